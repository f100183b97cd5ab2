"""Text messages to the customer. The recipient is the customer's own number and never comes from the model."""

from __future__ import annotations

from functools import cached_property

from projects.common.phones import (
    DEFAULT_REGION,
    DEFAULT_TIMEZONE,
    NumberRefused,
    comparable_number,
    countries_of,
    home_countries,
    textable_number,
)
from projects.models import Project
from projects.records.attributes import resolve_attributes
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.handler import Contact, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.engine.hooks import read_contact
from tools.engine.words import normalize_words
from tools.services.messaging.base import Sms
from tools.services.messaging.channels import deliver

LONGEST_TEXT = 1_600
COUNTRIES = "project_attributes_setting_sms_allowed_countries"
# The word in this setting that allows every country.
EVERYWHERE = "ALL"
NO_PHONE = "The text wasn't sent: the customer's phone number isn't known. Ask for it, and then promise the text again."


async def send_sms(text: str, context: ToolContext) -> Outcome:
    """Text the customer of the context."""
    phone = context.contact.phone if context.contact else ""
    if not phone:
        return Outcome.failed(NO_PHONE, told=NO_PHONE)
    try:
        to = await in_db(_allowed_number, phone, context)
    except NumberRefused as refusal:
        return Outcome.failed(f"The text wasn't sent. {refusal}", told=f"The text wasn't sent. {refusal}")
    return await deliver(Sms(to=to, text=text), context)


def sms_repeat(text: str, context: ToolContext) -> str | None:
    """Identify repeats: the same text to the same number, from any tool."""
    phone = context.contact.phone if context.contact else ""
    return f"{comparable_number(phone)}\n{normalize_words(text)}" if phone else None


class TextRules:
    """A project's rules for the numbers it texts, loaded on first use inside the current transaction.

    Without a setting, a number that the business put on file may be in any country, and one that a customer gave only in
    the business's own.
    """

    def __init__(self, project: Project) -> None:
        self._project = project

    def number(self, phone: str, *, on_file: str = "") -> str:
        """Return the number in E.164. `on_file` is the customer's number on file. Raises NumberRefused."""
        is_on_file = bool(on_file) and comparable_number(phone) == comparable_number(on_file)
        countries = self._countries if self._countries or is_on_file else self._home
        return textable_number(phone, region=self._region, countries=countries - {EVERYWHERE})

    def refusal(self, contact: Contact) -> str:
        """Return why the customer's number can't be texted, as a sentence; "" if it can."""
        try:
            self.number(contact.phone, on_file=contact.phone_on_file)
        except NumberRefused as refusal:
            return str(refusal)
        return ""

    @cached_property
    def _countries(self) -> frozenset[str]:
        """The countries that the project's setting names; EVERYWHERE alone if it allows all."""
        setting = resolve_attributes(self._project).get(COUNTRIES)
        named = countries_of(setting.value if setting else None)
        return frozenset({EVERYWHERE}) if EVERYWHERE in named else named

    @property
    def _home(self) -> frozenset[str]:
        version = self._project.agent_version
        zone = version.config.timezone if version else DEFAULT_TIMEZONE
        return home_countries(region=self._region, timezone=zone)

    @property
    def _region(self) -> str:
        return self._project.agent_version.config.region if self._project.agent_version else DEFAULT_REGION


def _allowed_number(phone: str, context: ToolContext) -> str:
    with tenant_tx(context.organization_id):
        project = Project.objects.select_related("agent_version").get(pk=context.project_id)
        known = read_contact(context.contact.persona_id) if context.contact else None
        return TextRules(project).number(phone, on_file=known.phone_on_file if known else "")
