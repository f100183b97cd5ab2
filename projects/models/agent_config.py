"""The schema of an agent's settings."""

from __future__ import annotations

import re
import zoneinfo
from collections import OrderedDict
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, Literal
from uuid import UUID

from django.utils.translation import gettext
from phonenumbers import SUPPORTED_REGIONS
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, field_validator

DATE = re.compile(r"\s*[0-9]{4}-[0-9]{2}-[0-9]{2}\s*")


def on_one_line(text: str) -> str:
    """The text with each run of spaces and line breaks as one space: names stand in the subjects of e-mails."""
    return " ".join(text.split())


def opens_before_it_closes(span: tuple[str, str]) -> tuple[str, str]:
    opens, closes = span
    if opens >= closes:
        raise ValueError(
            gettext(
                "The closing time %(closes)s is not after the opening time %(opens)s. To stay open past midnight, end this "
                "span at 24:00 and begin another at 00:00 on the next day."
            )
            % {"closes": closes, "opens": opens}
        )
    return span


def spans_follow_each_other(spans: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The spans in order of time. Raises ValueError if two overlap."""
    ordered = sorted(spans)
    for (opens, closes), (next_opens, next_closes) in pairwise(ordered):
        if next_opens < closes:
            raise ValueError(
                gettext(
                    "%(opens)s to %(closes)s and %(next_opens)s to %(next_closes)s overlap. Merge them, or change one."
                )
                % {"opens": opens, "closes": closes, "next_opens": next_opens, "next_closes": next_closes}
            )
    return ordered


def written_as_date(value: Any) -> Any:
    """Reject numbers and moments, which pydantic would convert to a date."""
    if type(value) is date or (isinstance(value, str) and DATE.fullmatch(value)):
        return value
    raise ValueError(gettext("Enter a date like 2026-12-24."))


# JSON values of another type are refused, never converted. Whole numbers are numbers.
Flag = Annotated[bool, Field(strict=True)]
Holiday = Annotated[date, BeforeValidator(written_as_date)]
Day = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
TimeOfDay = Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$|^24:00$")]
Span = Annotated[tuple[TimeOfDay, TimeOfDay], AfterValidator(opens_before_it_closes)]
DayHours = Annotated[list[Span], Field(max_length=6), AfterValidator(spans_follow_each_other)]
Words = Annotated[str, Field(min_length=1, max_length=2000)]
FieldName = Annotated[str, Field(min_length=1, max_length=40)]
ToolName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
ClockTime = Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]
Opener = Annotated[str, Field(min_length=1, max_length=200)]
Skill = Literal["reply", "observer", "thoughts", "detect", "arguments", "summary", "extract", "execute"]
ChannelName = Literal["chat", "phone", "webcall", "telegram", "whatsapp", "sms", "email", "portal", "api"]
ChannelKind = Literal["text", "voice"]
VerticalName = Literal["generic", "ecommerce", "help_center", "ecommerce_help_center", "bookings", "healthcare"]
EscalationAction = Literal["transfer", "message"]
# A field of a customer is known in all of their conversations, one of a conversation only in that one.
FieldScope = Literal["customer", "conversation"]
# Fields that the observer always extracts. They belong to the customer.
STANDARD_FIELDS = frozenset({"name", "phone", "email", "language", "sms_opt_in", "email_opt_in", "call_opt_in"})
# The identification required before the agent reveals or changes a customer's data.
CallerVerification = Literal["none", "basic", "code"]
# The effect of a new message on the reply in progress.
NewerMessage = Literal["interrupt", "queue", "reject"]
# The Unicode categories Cc and Cs, except line feed and tab.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def refuse_control_characters(text: str) -> None:
    """Raise ValueError for control characters, which can't be stored or displayed and come from faulty copy and paste."""
    if found := CONTROL.search(text):
        at, code = found.start() + 1, ord(found[0])
        raise ValueError(
            gettext("Character %(at)s is the control character U+%(code)s; remove it.")
            % {"at": at, "code": format(code, "04X")}
        )


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)

    @field_validator("*")
    @classmethod
    def without_control_characters(cls, value: Any) -> Any:
        for text in _texts_of(value):
            refuse_control_characters(text)
        return value


class ScenarioStep(Part):
    """One step: the agent's action, the fields it collects, and the tools it may promise."""

    text: Words
    collects: Annotated[list[FieldName], Field(max_length=20)] = []
    tools: Annotated[list[ToolName], Field(max_length=20)] = []


class Scenario(Part):
    title: Annotated[str, Field(min_length=1, max_length=200)]
    steps: Annotated[list[ScenarioStep], Field(min_length=1, max_length=20)]


class Procedure(Part):
    title: Annotated[str, Field(min_length=1, max_length=200)]
    text: Words


class Intent(Part):
    """Instructions for one intent of the customer, during and outside working hours."""

    name: Annotated[str, Field(min_length=1, max_length=100)]
    working_hours: Words
    non_working_hours: Words


class ObserverField(Part):
    """A custom field that the observer extracts, for the customer or for one conversation alone."""

    key: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
    description: Annotated[str, Field(min_length=1, max_length=300)]
    scope: FieldScope = "customer"

    @field_validator("scope")
    @classmethod
    def standard_fields_are_the_customers(cls, value: FieldScope, info: ValidationInfo) -> FieldScope:
        if value == "conversation" and (key := info.data.get("key")) in STANDARD_FIELDS:
            raise ValueError(
                gettext("%(key)s always belongs to the customer. Choose the scope customer.") % {"key": key}
            )
        return value


class EscalationRule(Part):
    """A condition for involving people, and how: by transferring the call, or by sending them a message."""

    when: Annotated[str, Field(min_length=1, max_length=300)]
    action: EscalationAction


class AgentConfig(Part):
    """The settings of an agent. Times of day are local to `timezone`; days are weekdays."""

    agent_name: Annotated[str, Field(min_length=1, max_length=80), AfterValidator(on_one_line)]
    business_name: Annotated[str, Field(min_length=1, max_length=120), AfterValidator(on_one_line)]
    business_context: Annotated[str, Field(max_length=20_000)] = ""
    style: Annotated[str, Field(max_length=1000)] = "Be warm and brief: one to three sentences."
    timezone: str = "UTC"
    region: str = "US"
    scenarios: Annotated[list[Scenario], Field(max_length=30)] = []
    procedures: Annotated[list[Procedure], Field(max_length=30)] = []
    intents: Annotated[list[Intent], Field(max_length=40)] = []
    hours: dict[Day, DayHours] = {}
    holidays: Annotated[list[Holiday], Field(max_length=200)] = []
    observer_fields: Annotated[list[ObserverField], Field(max_length=30)] = []
    # Example messages of customers. The playground suggests the first three.
    openers: Annotated[list[Opener], Field(max_length=12)] = []
    models: dict[Skill, Annotated[str, Field(min_length=1, max_length=120)]] = {}
    model_base_url: Annotated[str, Field(max_length=500)] = ""
    # The model that transcribes customers' voice messages. Empty: they aren't transcribed.
    transcription_model: Annotated[str, Field(max_length=120)] = ""
    # None: the channel's default.
    newer_message: NewerMessage | None = None
    # Channels whose conversations are scored, in addition to voice.
    score_quality_on: list[ChannelName] = []
    # Minutes of silence before the agent writes again, by kind of channel. 0 disables it; the channel's
    # default applies to a missing kind.
    follow_up_minutes: dict[ChannelKind, Annotated[float, Field(strict=True, ge=0, le=10_080)]] = {}
    follow_up_limit: Annotated[int, Field(strict=True, ge=0, le=10)] = 1
    # Check the agent's claims about completed actions before the customer sees them.
    truthful_status: Flag = True
    # Ask for a rating in the widget and the portal once a conversation is over.
    ask_for_ratings: Flag = True
    # Take files from customers in the widget and the portal.
    take_files: Flag = True
    # No follow-ups on text channels between these times of day.
    quiet_hours: tuple[ClockTime, ClockTime] | None = ("21:00", "08:00")
    vertical: VerticalName = "generic"
    # The only tools allowed during a reply. None: all that its vertical and the state of the business allow.
    enabled_tools: Annotated[list[ToolName], Field(max_length=60)] | None = None
    escalation_rules: Annotated[list[EscalationRule], Field(max_length=20)] = []
    caller_verification: CallerVerification = "none"
    # Include passages of articles that match the customer's message in the reply's prompt.
    knowledge_in_prompt: Flag = False

    @field_validator("timezone")
    @classmethod
    def known_zone(cls, value: str) -> str:
        if value not in time_zones():
            raise ValueError(
                gettext("%(value)s is not a time zone. Use one like Europe/Rome.") % {"value": repr(value)}
            )
        return value

    @field_validator("region")
    @classmethod
    def known_region(cls, value: str) -> str:
        if value not in SUPPORTED_REGIONS:
            raise ValueError(
                gettext("%(value)s is not a region. Use two capital letters like IT or US.") % {"value": repr(value)}
            )
        return value

    @field_validator("observer_fields")
    @classmethod
    def each_field_once(cls, value: list[ObserverField]) -> list[ObserverField]:
        keys = [field.key for field in value]
        if twice := next((key for key in keys if keys.count(key) > 1), None):
            raise ValueError(gettext("%(twice)s appears twice. Rename or remove one.") % {"twice": twice})
        return value

    @property
    def conversation_fields(self) -> frozenset[str]:
        """The keys of the fields that belong to one conversation."""
        return frozenset(field.key for field in self.observer_fields if field.scope == "conversation")


@cache
def time_zones() -> frozenset[str]:
    """The names of all time zones, cached because looking them up reads many files."""
    return frozenset(zoneinfo.available_timezones())


def _texts_of(value: Any) -> Iterator[str]:
    """The strings directly in a field, a list or a mapping. Nested models validate their own."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        items = value.values() if isinstance(value, dict) else value
        yield from (item for item in items if isinstance(item, str))


_parsed: OrderedDict[UUID, AgentConfig] = OrderedDict()
_KEPT = 512


def parse_config(version_id: UUID, read_document: Callable[[], dict[str, Any]]) -> AgentConfig:
    """The config of a version, from a small cache: versions never change. The document is read only on a cache miss.

    Raises pydantic.ValidationError.
    """
    config = _parsed.get(version_id)
    if config is None:
        config = _parsed[version_id] = AgentConfig.model_validate(read_document())
        if len(_parsed) > _KEPT:
            _parsed.popitem(last=False)
    return config
