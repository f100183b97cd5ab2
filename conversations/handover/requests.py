"""A customer asks for the person whom the agent offered, and says how they can be reached (W03)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from conversations.common.contacts import read_contact
from conversations.handover.notices import Notice, add_notice
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import Conversation, PersonaField
from conversations.models.persona import Strength
from jobs.errors import WrongState
from projects.common.api_error import ApiError
from projects.common.phones import InvalidPhone, read_phone
from projects.models import AgentVersion, Project
from projects.models.agent_config import AgentConfig
from tools.models import Escalation, EscalationState
from tools.services.support.escalations import make_request
from tools.services.support.notices import tell_operators

LONGEST: Mapping[str, int] = {"name": 80, "email": 254, "phone": 40, "note": 1_000}
ANSWERED = "This request was answered already. Write what you need, and a person can be asked again."


def request_person(conversation: Conversation, escalation_id: UUID, lead: Mapping[str, Any]) -> Escalation:
    """The customer pressed the button, and left `{name?, email?, phone?, note?}`.

    An e-mail address or a phone number is needed where the customer's isn't known. Staff is told, once however often the
    button is pressed; a later lead completes an earlier one. Raises ApiError with a sentence about the lead, WrongState for
    a request that is over, Escalation.DoesNotExist for one of another conversation.
    """
    with open_log(conversation.pk) as log:
        escalation = Escalation.objects.get(pk=escalation_id, conversation_id=conversation.pk)
        if escalation.state == EscalationState.RESOLVED:
            raise WrongState(ANSWERED)
        left = read_lead(lead, config=_config_of(log))
        _check_reachable(log.conversation, {**escalation.lead, **left})
        if make_request(escalation, {**escalation.lead, **left}):
            add_notice(log, Notice.ASKED)
            log.add_event("escalation_waiting", payload={"escalation": str(escalation.pk)})
            tell_operators(escalation)
        _keep_lead(log.conversation.persona_id, left)
        escalation.refresh_from_db()
        return escalation


def read_lead(lead: Mapping[str, Any], *, config: AgentConfig) -> dict[str, str]:
    """How the customer wants to be reached, each field checked; what is left empty is left out. Raises ApiError."""
    if not isinstance(lead, Mapping):
        raise _refused("The lead must be an object with name, email, phone and note.", "lead")
    for name in lead:
        if name not in LONGEST:
            raise _refused(f"Unknown field '{str(name)[:40]}'. Use name, email, phone or note.", f"lead.{name}"[:80])
    left = {name: _text(name, value) for name, value in lead.items()}
    if left.get("email"):
        left["email"] = _email(left["email"])
    if left.get("phone"):
        left["phone"] = _phone(left["phone"], region=config.region)
    return {name: value for name, value in left.items() if value}


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _refused(f"{name} must be text.", f"lead.{name}")
    text = " ".join(value.replace("\0", "").split()) if name != "note" else value.replace("\0", "").strip()
    if len(text) > LONGEST[name]:
        raise _refused(f"{name} has {len(text):,} characters; the limit is {LONGEST[name]:,}.", f"lead.{name}")
    return text


def _email(text: str) -> str:
    try:
        validate_email(text)
    except ValidationError as error:
        raise _refused(f"{text} is no e-mail address; write one such as anna@example.com.", "lead.email") from error
    return text


def _phone(text: str, *, region: str) -> str:
    try:
        return read_phone(text, region=region)
    except InvalidPhone as error:
        raise _refused(f"{text} is no phone number; write it with its area code.", "lead.phone") from error


def _check_reachable(conversation: Conversation, lead: Mapping[str, str]) -> None:
    known = read_contact(conversation.persona_id)
    if not (lead.get("email") or lead.get("phone") or (known and (known.email or known.phone))):
        raise _refused("Leave an e-mail address or a phone number, so that a person can reach you.", "lead")


def _keep_lead(persona_id: UUID, left: Mapping[str, str]) -> None:
    """What the customer wrote down is known of them from now on, unless something is known already."""
    fields = [
        PersonaField(persona_id=persona_id, key=key, value=left[key], strength=Strength.STATED)
        for key in ("email", "name", "phone")
        if left.get(key)
    ]
    PersonaField.objects.bulk_create(fields, ignore_conflicts=True)


def _config_of(log: ConversationLog) -> AgentConfig:
    project = Project.objects.select_related("agent_version").get(pk=log.conversation.project_id)
    return cast(AgentVersion, project.agent_version).config


def _refused(message: str, field: str) -> ApiError:
    return ApiError("invalid", message, field=field)
