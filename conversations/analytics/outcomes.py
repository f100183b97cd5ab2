"""Outcomes of conversations as conditions, used alike by the figures and by the lists behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Case, Func, Q, QuerySet, TextField, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import ExtractHour, Lower, Now, Trim

from conversations.analytics.period import Period, days_between
from conversations.models import Conversation, ConversationStatus, Event, Message, MessageRole, TurnCall
from conversations.models.step import SEARCHES
from conversations.voice.deduplication import ANSWERED
from projects.knowledge.answers import NOTHING_FOUND
from tenancy.ids import uuid7_floor
from tools.models import Effect, Escalation

SILENT = timedelta(days=1)
# Directives name their scenario as “2, Book a table”.
NUMBER = r"^\s*\d+\s*[,.:)–-]*\s*"
NONE = "none"


def handed_over() -> Q:
    """The customer asked for a person, a colleague took over or wrote, or the call was transferred."""
    return _is_among(
        Conversation.objects.filter(status=ConversationStatus.TRANSFERRED).values("pk"),
        Conversation.objects.filter(operator__isnull=False).values("pk"),
        Escalation.objects.filter(requested_at__isnull=False).values("conversation_id"),
        Message.objects.filter(role=MessageRole.OPERATOR).values("conversation_id"),
    )


def unanswered() -> Q:
    """A search of the knowledge base found nothing, in a reply or during a call."""
    return _is_among(
        TurnCall.objects.filter(name__in=SEARCHES, result__startswith=NOTHING_FOUND).values(
            "step__turn__conversation_id"
        ),
        Event.objects.filter(idn=ANSWERED, payload__result__startswith=NOTHING_FOUND).values("conversation_id"),
    )


def _is_among(first: QuerySet[Any, Any], *others: QuerySet[Any, Any]) -> Q:
    """The keys of any of the queries. As one union of keys, PostgreSQL can begin with these few conversations; as
    conditions joined by "or", it reads all conversations of the period.
    """
    return Q(pk__in=first.order_by().union(*(other.order_by() for other in others), all=True))


def resolved() -> Q:
    """It is over, the customer wrote, and neither a person nor an unknown answer was needed."""
    is_over = Q(status=ConversationStatus.ENDED) | Q(closed_at__isnull=False) | Q(updated_at__lt=Now() - Value(SILENT))
    return is_over & Q(last_turn__gt=0, flag="") & ~handed_over() & ~unanswered()


# Stars of a satisfied and of a dissatisfied customer.
GOOD, BAD = 4, 2
RATINGS: Mapping[str, Q] = {
    "any": Q(rating__isnull=False),
    "good": Q(rating__gte=GOOD),
    "bad": Q(rating__lte=BAD),
}

OUTCOMES: Mapping[str, Callable[[], Q]] = {
    "resolved": resolved,
    "handed_over": handed_over,
    "unanswered": unanswered,
}


def begun_in(rows: QuerySet[Conversation], period: Period) -> QuerySet[Conversation]:
    """The conversations that began in the period. The range of ids is what the index serves."""
    return rows.filter(
        pk__gte=uuid7_floor(period.since - timedelta(seconds=1)),
        pk__lt=uuid7_floor(period.until + timedelta(seconds=1)),
        created_at__gte=period.since,
        created_at__lt=period.until,
    )


def with_hour(rows: QuerySet[Conversation], timezone: str) -> QuerySet[Conversation]:
    """Annotated with `hour`, the hour of the day the conversation began in."""
    return rows.annotate(hour=ExtractHour("created_at", tzinfo=ZoneInfo(timezone)))


def _often(condition: Q) -> Case:
    """A condition on something computed that holds for many rows.

    As a case, because PostgreSQL expects such a condition to hold for one row in 200. It would then read the whole
    period for a page of its newest conversations.
    """
    return Case(When(condition, then=True), default=False)


def with_topic(rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
    """Annotated with `topic`: the scenario of the newest directives, in lower case and without its number."""
    named = KeyTextTransform("scenario", "directives__document")
    plain = Func(named, Value(NUMBER), Value(""), function="regexp_replace", output_field=TextField())
    return rows.annotate(topic=Lower(Trim(plain)))


@dataclass(frozen=True)
class Slice:
    """One cell of the analytics, as a filter of conversations; an empty value matches everything.

    Days and hours are those of `timezone`. `topic` is a scenario's title or “none”.
    """

    since: str = ""
    until: str = ""
    hour: str = ""
    outcome: str = ""
    topic: str = ""
    tool: str = ""
    timezone: str = field(default="UTC", compare=False)

    @property
    def period(self) -> Period | None:
        """The days from `since` to `until`. A missing end is today or the first day there is."""
        if not (self.since or self.until):
            return None
        first = date.fromisoformat(self.since) if self.since else date(2000, 1, 1)
        last = date.fromisoformat(self.until) if self.until else date(2100, 1, 1)
        return days_between(first, last, timezone=self.timezone)

    def narrow(self, rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
        if period := self.period:
            rows = begun_in(rows, period)
        if self.since or self.until or self.outcome:
            rows = rows.filter(~Q(metadata__playground=True) | Q(metadata__playground__isnull=True))
        if self.hour:
            rows = with_hour(rows, self.timezone).filter(_often(Q(hour=int(self.hour))))
        if self.outcome:
            rows = rows.filter(OUTCOMES[self.outcome]())
        if self.topic:
            has_none = Q(topic__isnull=True) | Q(topic="")
            rows = with_topic(rows).filter(_often(has_none if self.topic == NONE else Q(topic=self.topic.lower())))
        if self.tool:
            used = Effect.objects.filter(tool=self.tool, conversation_id__isnull=False).order_by()
            rows = rows.filter(pk__in=used.values("conversation_id"))
        return rows
