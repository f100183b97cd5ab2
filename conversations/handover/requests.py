"""Customer requests for a person, with contact details."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from conversations.common.contacts import read_contact
from conversations.common.draft_settings import config_of
from conversations.handover.notices import Notice, add_notice
from conversations.live.event_log import ConversationLog, open_log
from conversations.models import Conversation, Persona, PersonaField, Turn
from conversations.models.persona import Strength
from conversations.turns.consents import bind_refusals
from jobs.errors import WrongState
from projects.common.api_error import ApiError
from projects.common.phones import InvalidPhone, read_phone
from projects.models.agent_config import AgentConfig
from tools.engine.builtin_tool import SHOWING_BLOCKS
from tools.models import Escalation, EscalationState
from tools.services.support.escalations import make_request, offer_person, person_button
from tools.services.support.notices import notify_operators

MAX_LENGTHS: Mapping[str, int] = {"name": 80, "email": 254, "phone": 40, "note": 1_000}
ANSWERED = "This request is already answered. Send a message to ask for a person again."


def request_person(
    conversation: Conversation, escalation_id: UUID, lead: Mapping[str, Any], *, is_reachable: bool = False
) -> Escalation:
    """Record that the customer pressed the agent's button, with `lead` `{name?, email?, phone?, note?}`.

    An e-mail address or a phone number is required unless one is on file, or the customer is answered in the chat itself
    (`is_reachable`). Staff is notified once, however often the button is pressed; a later lead completes an earlier one.
    Raises ApiError about the lead, WrongState for a resolved request, Escalation.DoesNotExist for a request of another
    conversation.
    """
    with open_log(conversation.pk) as log:
        escalation = Escalation.objects.get(pk=escalation_id, conversation_id=conversation.pk)
        if escalation.state == EscalationState.RESOLVED:
            raise WrongState(ANSWERED)
        details = parse_lead(lead, config=_config_of(log))
        if not is_reachable:
            _check_reachable(log.conversation, {**escalation.lead, **details})
        if make_request(escalation, {**escalation.lead, **details}):
            add_notice(log, Notice.ASKED)
            log.add_event("escalation_waiting", payload={"escalation": str(escalation.pk)})
            notify_operators(escalation)
        _keep_lead(log.conversation.persona, details)
        escalation.refresh_from_db()
        return escalation


@dataclass(frozen=True)
class Handover:
    """A request that a person take over in the agent's place. `blocks` let the customer leave contact details."""

    was_waiting: bool
    blocks: Sequence[dict[str, Any]] = ()


def hand_over(log: ConversationLog, turn: Turn, *, reason: str) -> Handover | None:
    """Ask a person to take over, because the agent can't go on. Staff is notified once. None in a test conversation."""
    conversation = log.conversation
    if conversation.is_test:
        return None
    escalation = offer_person(
        project_id=conversation.project_id,
        conversation_id=conversation.pk,
        turn_id=turn.pk,
        effect_id=None,
        reason=reason,
    )
    if not make_request(escalation, {}):
        return Handover(was_waiting=True)
    log.add_event("escalation_waiting", payload={"escalation": str(escalation.pk)})
    notify_operators(escalation)
    known = read_contact(conversation.persona_id)
    is_reachable = known is not None and (known.email or known.phone)
    shows = conversation.channel in SHOWING_BLOCKS and not is_reachable
    # The reason is for staff.
    button = {**person_button(escalation), "reason": ""}
    return Handover(was_waiting=False, blocks=[button] if shows else ())


def parse_lead(lead: Mapping[str, Any], *, config: AgentConfig) -> dict[str, str]:
    """Validate the customer's contact details, and drop empty fields. Raises ApiError."""
    if not isinstance(lead, Mapping):
        raise _invalid("The lead must be an object with name, email, phone and note.", "lead")
    for name in lead:
        if name not in MAX_LENGTHS:
            raise _invalid(f"Unknown field '{str(name)[:40]}'. Use name, email, phone or note.", f"lead.{name}"[:80])
    details = {name: _text(name, value) for name, value in lead.items()}
    if details.get("email"):
        details["email"] = _email(details["email"])
    if details.get("phone"):
        details["phone"] = _phone(details["phone"], region=config.region)
    return {name: value for name, value in details.items() if value}


def _text(name: str, value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _invalid(f"{name} must be text.", f"lead.{name}")
    text = " ".join(value.replace("\0", "").split()) if name != "note" else value.replace("\0", "").strip()
    if len(text) > MAX_LENGTHS[name]:
        raise _invalid(f"{name} has {len(text):,} characters; the limit is {MAX_LENGTHS[name]:,}.", f"lead.{name}")
    return text


def _email(text: str) -> str:
    try:
        validate_email(text)
    except ValidationError as error:
        raise _invalid(
            f"{text} is not a valid email address. Enter one like anna@example.com.", "lead.email"
        ) from error
    return text


def _phone(text: str, *, region: str) -> str:
    try:
        return read_phone(text, region=region)
    except InvalidPhone as error:
        raise _invalid(f"{text} is not a valid phone number. Include the area code.", "lead.phone") from error


def _check_reachable(conversation: Conversation, lead: Mapping[str, str]) -> None:
    known = read_contact(conversation.persona_id)
    if not (lead.get("email") or lead.get("phone") or (known and (known.email or known.phone))):
        raise _invalid("Enter an email address or a phone number.", "lead")


def _keep_lead(persona: Persona, details: Mapping[str, str]) -> None:
    """Store the details as the customer's fields; existing values win."""
    fields = [
        PersonaField(persona=persona, key=key, value=details[key], strength=Strength.STATED)
        for key in ("email", "name", "phone")
        if details.get(key)
    ]
    PersonaField.objects.bulk_create(fields, ignore_conflicts=True)
    bind_refusals(persona)


def _config_of(log: ConversationLog) -> AgentConfig:
    return config_of(log.conversation)


def _invalid(message: str, field: str) -> ApiError:
    return ApiError("invalid", message, field=field)
