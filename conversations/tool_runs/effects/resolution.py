"""Decisions by people, and late callbacks, about effects that workers left open."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404
from django.utils.translation import gettext

from conversations.channels.lane import resolve_delivery
from conversations.channels.outgoing import is_channel_message
from conversations.live.event_log import open_log
from conversations.models.event import EventType
from conversations.tool_runs.effects.conversation_run import ConversationRun
from conversations.tool_runs.effects.outcome_events import conversation_of, tell_end
from jobs.enqueue import enqueue
from jobs.errors import WrongState
from projects.common.crypto import WrongSecret
from projects.models import Project
from todos.executor import resume
from tools.engine import effect_decisions, ledger
from tools.engine.custom.secrets import WebhookSecrets, secrets_of
from tools.engine.execution.callback import is_token_of
from tools.engine.execution.outcome import Ending, Outcome
from tools.engine.execution.webhook import Reply, known_secrets, reply_of, result_of
from tools.engine.presenters import effect_payload
from tools.engine.promises import settle_promises
from tools.models import AfterActionState, Effect, EffectState
from tools.services.calendar.event_sync import is_calendar_event
from tools.services.calendar.event_sync import resolve as resolve_calendar_event

CALLED_BACK = (EffectState.SENDING, EffectState.UNKNOWN)


def resolve(project: Project, effect_id: UUID, *, happened: bool, by: UUID | None) -> Effect:
    """Record whether an unknown effect happened. If not, it is sent again under the same key, which is a new approval.

    Raises Http404, and WrongState unless the effect is unknown and its customer is on record. Of two concurrent calls one
    wins.
    """
    effect = _effect(project, effect_id)
    if is_calendar_event(effect):
        return resolve_calendar_event(effect, happened=happened, by=by)
    if is_channel_message(effect):
        return resolve_delivery(effect, happened=happened, by=by)
    if resume.belongs_to_todo(effect):
        return resume.resolve(effect, happened=happened, by=by)
    with open_log(conversation_of(effect)) as log:
        if happened:
            effect_decisions.confirm(effect, by=by)
            settle_promises(effect)
            tell_end(log, effect)
        else:
            effect_decisions.send_again(effect, by=by)
            enqueue([ledger.job_for(effect, reason=f"resolved:{effect.attempts}")])
        log.add_event("effect_resolved", payload=effect_payload(effect), type=EventType.EFFECT)
    return effect


def release(project: Project, effect_id: UUID, *, by: UUID | None) -> Effect:
    """Send a held repeat after all. Raises Http404, and WrongState unless it is held."""
    effect = _effect(project, effect_id)
    if resume.belongs_to_todo(effect):
        return resume.release(effect, by=by)
    with open_log(conversation_of(effect)) as log:
        effect_decisions.release(effect, by=by)
        enqueue([ledger.job_for(effect, reason="released")])
        log.add_event("effect_released", payload=effect_payload(effect), type=EventType.EFFECT)
    return effect


def store_callback(effect_id: UUID, *, token: str, body: bytes) -> bool:
    """Store a tool's callback result; an object with a string under `error` means failure.

    Runs in the tenant's transaction. A used token changes nothing. Return False if the token is not the effect's.
    """
    effect = Effect.objects.get(pk=effect_id)
    if not is_token_of(token, effect.callback_hash):
        return False
    reply = _without_secrets(effect, body)
    if resume.belongs_to_todo(effect):
        resume.settle_callback(effect, _outcome(effect, reply))
        return True
    with open_log(conversation_of(effect)) as log:
        effect = Effect.objects.select_for_update().get(pk=effect_id)
        if effect.state in CALLED_BACK:
            ConversationRun(log, effect).settle(_outcome(effect, reply))
            if effect.after_actions.filter(state=AfterActionState.PLANNED).exists():
                enqueue([ledger.job_for(effect, reason="called_back")])
    return True


def _without_secrets(effect: Effect, body: bytes) -> Reply:
    """The callback's body without the tool's secrets; secrets that can no longer be decrypted are not searched for."""
    try:
        secrets = secrets_of(effect.project_id, effect.tool)
    except WrongSecret:
        secrets = WebhookSecrets()
    return reply_of(body, hidden=known_secrets(effect.pk, secrets))


def _outcome(effect: Effect, reply: Reply) -> Outcome:
    error = reply.document.get("error") if isinstance(reply.document, dict) else None
    ending = Ending.FAILED if isinstance(error, str) and error else Ending.DONE
    return Outcome(
        ending,
        result=result_of(reply),
        told=reply.told or "It was done.",
        error=str(error)[:500] if ending is Ending.FAILED else "",
        excerpt=reply.text,
        http_status=effect.http_status,
        adapter=effect.adapter,
    )


def _effect(project: Project, effect_id: UUID) -> Effect:
    effect = Effect.objects.filter(project_id=project.pk, pk=effect_id).first()
    if effect is None:
        raise Http404
    if effect.erased_at is not None:
        raise WrongState(gettext("The customer was erased. Nothing more can be done about this effect."))
    return effect
