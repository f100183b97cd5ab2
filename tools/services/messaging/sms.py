"""Text messages to the customer. The recipient is the customer's own number and never comes from the model."""

from __future__ import annotations

from functools import cached_property

from projects.common.phones import NumberRefused, comparable_number, countries_of, textable_number
from projects.models import Project
from projects.records.attributes import resolve_attributes
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.engine.words import normalize_words
from tools.services.messaging.base import Sms
from tools.services.messaging.channels import deliver

LONGEST_TEXT = 1_600
COUNTRIES = "project_attributes_setting_sms_allowed_countries"
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
    """A project's rules for the numbers it texts, loaded on first use inside the current transaction."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def number(self, phone: str) -> str:
        """Return the number in E.164, by the project's region and allowed countries. Raises NumberRefused."""
        config = self._project.agent_version.config if self._project.agent_version else None
        return textable_number(phone, region=config.region if config else "US", countries=self._countries)

    def refusal(self, phone: str) -> str:
        """Return why the number can't be texted, as a sentence; "" if it can."""
        try:
            self.number(phone)
        except NumberRefused as refusal:
            return str(refusal)
        return ""

    @cached_property
    def _countries(self) -> frozenset[str]:
        setting = resolve_attributes(self._project).get(COUNTRIES)
        return countries_of(setting.value if setting else None)


def _allowed_number(phone: str, context: ToolContext) -> str:
    with tenant_tx(context.organization_id):
        project = Project.objects.select_related("agent_version").get(pk=context.project_id)
        return TextRules(project).number(phone)
