"""Actions of staff on a live call: take it over, or end it. The call's keeper obeys."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from conversations.live.event_log import open_log
from conversations.models import OPEN_STATES, Call, ConversationStatus
from conversations.turns.channel_signals import apply_signal
from jobs.errors import WrongState
from projects.common.api_error import Unprocessable
from projects.common.phones import InvalidPhone, read_phone
from projects.common.translation import lazy
from projects.models import AgentVersion, Project
from tools.engine.execution.outcome import Signal

IS_OVER = lazy("This call is over.")


def end_call(project: Project, call_id: UUID) -> Call:
    """Have the keeper hang up. Raises WrongState, Call.DoesNotExist."""
    call = Call.objects.get(pk=call_id, project=project)
    return _signal(call, Signal.END, {"reason": "A colleague ended the call."})


def transfer_call(project: Project, call_id: UUID, *, number: str) -> Call:
    """Have the keeper transfer the call to a number. Raises Unprocessable, WrongState, Call.DoesNotExist."""
    call = Call.objects.get(pk=call_id, project=project)
    try:
        wanted = read_phone(number, region=_region(project))
    except InvalidPhone as error:
        raise Unprocessable("invalid", f"number: {error.sentence}", field="number") from None
    return _signal(call, Signal.TRANSFER, {"transferred": True, "number": wanted, "to": ""})


def _signal(call: Call, signal: Signal, result: dict[str, Any]) -> Call:
    with open_log(call.conversation_id) as log:
        call.refresh_from_db()
        if call.state not in OPEN_STATES or log.conversation.status != ConversationStatus.OPEN:
            raise WrongState(IS_OVER)
        apply_signal(log, signal, turn_id=None, result=result)
    return call


def _region(project: Project) -> str:
    version = AgentVersion.objects.filter(project=project, is_draft=False).order_by("-number").first()
    return version.config.region if version else "US"
