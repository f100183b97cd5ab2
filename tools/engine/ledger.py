"""The ledger of effects: planning them and moving them through their states. Every change is compare-and-set.

    planned → sending → done | failed | unknown          held ⇄ planned → cancelled

`tools.engine.execution.outcome_policy` decides which state follows an attempt;
`conversations.tool_runs.effects.outcome_events` reports it to the conversation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from jobs.enqueue import JobRequest
from notices.models import NoticeKind
from notices.services import notify, settle
from telemetry.metrics import EFFECTS
from tenancy.postgresql.prepared import Prepared
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import current_organization_id
from tenancy.write_batch import insert_rows
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.engine.execution.plan import identify
from tools.engine.hooks import customer_name
from tools.engine.verdicts import Judgement, shown_verdicts
from tools.models import Effect, EffectState, Verdict
from tools.models.effect import EVENT_ADAPTER

# Effects are retried for this long after the first attempt; a later retry would surprise the customer.
RETRY_WINDOW = timedelta(minutes=15)
# Time limit for a callback before staff has to look.
CALLBACK_TIMEOUT = timedelta(hours=1)
# Suffix of the job key for after-actions of an effect without a conversation.
ALONE = "alone"
# The label of tools that only read.
NO_KIND = "none"
# An effect's end for the agent.
NOT_DONE = "{tool} was not done: {why}"
OPEN = (EffectState.PLANNED, EffectState.SENDING)

# JSON columns among those that an outcome writes.
JSON_COLUMNS = ("result", "request")

ROWS = PreparedQuery(lambda effect: Effect.objects.filter(pk=effect), kinds=(UUID,))

# Set by what a provider reports, beside the outcome.
RECEIPT_COLUMNS = ("receipt", "receipt_ref", "receipt_reason", "receipt_at", "receipt_due_at")
_BEGIN_COLUMNS = (
    *("state", "attempts", "started_at", "deadline_at", "is_uncertain", "callback_hash"),
    *RECEIPT_COLUMNS,
)
_BEGIN = Prepared(f"""
update tools_effect
set state = 'sending', attempts = attempts + 1, started_at = statement_timestamp(),
    deadline_at = coalesce(deadline_at, statement_timestamp() + %s::interval), is_uncertain = %s, callback_hash = %s,
    visitor = %s, receipt = '', receipt_reason = '', receipt_at = null, receipt_due_at = null
where id = %s and organization_id = %s and state in ('planned', 'sending')
returning {", ".join(_BEGIN_COLUMNS)}
""")  # noqa: S608 - names of our own columns

_OUTCOME_COLUMNS = (
    *("state", "result", "told", "error", "request", "http_status", "excerpt", "adapter", "acknowledged_at"),
    "finished_at",
    *RECEIPT_COLUMNS,
)
_STORE = Prepared(f"""
update tools_effect
set state = %s, result = %s, told = %s, error = %s, request = coalesce(%s, request), http_status = %s, excerpt = %s,
    adapter = coalesce(%s, adapter), acknowledged_at = case when %s then statement_timestamp() end,
    finished_at = case when %s then statement_timestamp() end
where id = %s and organization_id = %s and state in ('planned', 'sending', 'unknown')
returning {", ".join(_OUTCOME_COLUMNS)}
""")  # noqa: S608 - names of our own columns


def store_verdicts(judgements: Iterable[Judgement], *, conversation_id: UUID, turn_id: UUID) -> list[Verdict]:
    """Store the verdicts of a reply, one per tool, in the running transaction."""
    return insert_rows(
        Verdict(
            conversation_id=conversation_id,
            turn_id=turn_id,
            tool=judgement.tool.name,
            fired=judgement.fired,
            rule=judgement.rule,
            reason=judgement.reason,
            quote=judgement.quote,
            conditions=dict(judgement.conditions),
        )
        for judgement in shown_verdicts(judgements)
    )


def job_for(effect: Effect, *, reason: str = "", run_after: datetime | None = None) -> JobRequest:
    """The job that executes an effect. `reason` distinguishes an effect's later jobs from its first."""
    return JobRequest(
        lane="effect",
        project_id=effect.project_id,
        subject_id=effect.pk,
        ordinal=0,
        key=f"effect:{effect.pk}:{reason}".rstrip(":"),
        run_after=run_after,
    )


def retry_job(effect: Effect, *, run_after: datetime) -> JobRequest:
    """The job of an effect's next attempt."""
    return job_for(effect, reason=f"attempt:{effect.attempts + 1}", run_after=run_after)


def attempt_key(effect: Effect) -> str:
    """The key of an effect's `retry_job`."""
    return f"effect:{effect.pk}:attempt:{effect.attempts + 1}"


def after_actions_job(effect: Effect) -> JobRequest:
    """The job for the after-actions of an effect without a conversation."""
    return job_for(effect, reason=ALONE)


def is_after_actions_job(key: str) -> bool:
    """True if the job was created by `after_actions_job`."""
    return key.endswith(f":{ALONE}")


def store_arguments(effect: Effect, arguments: Mapping[str, Any], *, context: ToolContext) -> bool:
    """Store the arguments a model extracted, before anything acts on them. Return False if they were stored already."""
    effect.arguments = dict(arguments)
    identify(effect, context)
    changed = Effect.objects.filter(pk=effect.pk, state=EffectState.PLANNED, arranged_at=None).update(
        arguments=effect.arguments, arranged_at=Now(), repeat_key=effect.repeat_key, recipient=effect.recipient
    )
    effect.refresh_from_db()
    return changed == 1


def needs_approval(effect: Effect) -> bool:
    """True if a person must approve the effect before its first attempt. Resolving or releasing it counts as approval."""
    return effect.definition.get("requires_approval") is True and effect.resolved_at is None


def require_approval(effect: Effect) -> None:
    """Require a person's approval of a planned effect, because the business has asked for it since."""
    if effect.definition.get("requires_approval") is True:
        return
    effect.definition = {**effect.definition, "requires_approval": True}
    Effect.objects.filter(pk=effect.pk, state=EffectState.PLANNED).update(definition=effect.definition)


def begin_sending(effect: Effect, *, callback_hash: str = "") -> bool:
    """Mark an attempt as started; commit before its first byte is sent. Return False if the effect is over already.

    An attempt that another worker abandoned makes the outcome uncertain.
    """
    is_uncertain = effect.is_uncertain or effect.state == EffectState.SENDING
    rows = _BEGIN(RETRY_WINDOW, is_uncertain, callback_hash, effect.visitor, effect.pk, current_organization_id())
    return counted(effect) if _apply_row(effect, _BEGIN_COLUMNS, rows) else False


def store_outcome(effect: Effect, outcome: Outcome, *, state: EffectState) -> bool:
    """Record an attempt's outcome and the resulting state. Return False if the effect was over already.

    An unknown effect can still be ended, by staff or by a late result.
    """
    was_unknown = effect.state == EffectState.UNKNOWN
    rows = _STORE(
        state.value,
        _as_json(outcome.result or None),
        outcome.told,
        outcome.error[:2000],
        _as_json(outcome.request),
        outcome.http_status,
        outcome.excerpt,
        outcome.adapter or None,
        state == EffectState.DONE and outcome.adapter == EVENT_ADAPTER,
        state not in OPEN,
        effect.pk,
        current_organization_id(),
    )
    changed = _apply_row(effect, _OUTCOME_COLUMNS, rows)
    if changed and (was_unknown or state == EffectState.UNKNOWN):
        announce_outcome(effect)
    return counted(effect) if changed else False


def announce_outcome(effect: Effect) -> None:
    """Notify operators of an effect with an unknown outcome; settle the notice of one whose outcome is known."""
    if effect.state != EffectState.UNKNOWN:
        settle(NoticeKind.UNKNOWN, effect.pk)
        return
    tool = effect.tool.removesuffix("_tool").replace("_", " ").capitalize()
    name = customer_name(effect.conversation_id) if effect.conversation_id else ""
    text = ": ".join(part for part in (name, tool, effect.recipient) if part)
    notify(effect.project_id, kind=NoticeKind.UNKNOWN, subject=effect.pk, object_id=effect.pk, text=text)


def requeue(effect: Effect, outcome: Outcome, *, is_uncertain: bool) -> bool:
    """Leave an effect to a later attempt. It stays `sending` if it may have happened, so that it never looks unstarted."""
    state = EffectState.SENDING if is_uncertain else EffectState.PLANNED
    if not store_outcome(effect, outcome, state=state):
        return False
    Effect.objects.filter(pk=effect.pk).update(is_uncertain=is_uncertain)
    effect.refresh_from_db()
    return True


def mark_accepted(effect: Effect, outcome: Outcome) -> bool:
    """Record that the tool accepted the call and answers later: the effect stays `sending` until the callback."""
    if not store_outcome(effect, outcome, state=EffectState.SENDING):
        return False
    Effect.objects.filter(pk=effect.pk).update(accepted_at=Now())
    effect.refresh_from_db()
    return True


def hold_back(effect: Effect, earlier: Effect, *, is_allowed: bool = False) -> bool:
    """Hold back a duplicate of an effect that was done, is under way or is planned.

    `is_allowed` is true if the earlier effect needs no further approval; it only changes what the agent is told.
    """
    return _end(
        effect, state=EffectState.HELD, repeats=earlier.pk, told=_duplicate_message(earlier, is_allowed=is_allowed)
    )


def cancel(effect: Effect, *, reason: str, told: str = "") -> bool:
    """Cancel a planned effect. The agent reads `told`, or else the reason."""
    return _end(effect, state=EffectState.CANCELLED, error=reason[:2000], told=told)


def complete_manually(effect: Effect, *, by: UUID | None, is_done: bool, said: str) -> bool:
    """Record that a person did it, or could not, in place of the tool. Return False if it was started or is over.

    The agent reads what was said of a success. The reason of a failure is for staff.
    """
    if is_done:
        end = {"state": EffectState.DONE, "told": f"A colleague did it by hand. {said}".strip()}
    else:
        words = "A colleague couldn't do it."
        error, told = f"{words} {said}".strip()[:2000], NOT_DONE.format(tool=effect.tool, why=words)
        end = {"state": EffectState.FAILED, "error": error, "told": told}
    return _end(effect, resolved_by=by, resolved_at=Now(), **end)


def _end(effect: Effect, **changes: Any) -> bool:
    changed = Effect.objects.filter(pk=effect.pk, state=EffectState.PLANNED).update(finished_at=Now(), **changes)
    effect.refresh_from_db()
    return counted(effect) if changed == 1 else False


def counted(effect: Effect) -> bool:
    """Count the effect's new state when the transaction commits. Returns True."""
    count = partial(EFFECTS.inc, effect.kind or NO_KIND, str(effect.state), tenant=effect.organization_id)
    transaction.on_commit(count)
    return True


def _apply_row(effect: Effect, names: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> bool:
    """Copy the written columns onto the effect. If the compare-and-set matched no row, reload the effect instead."""
    if not rows:
        [stands] = ROWS(effect.pk)
        for field in Effect._meta.concrete_fields:
            setattr(effect, field.attname, getattr(stands, field.attname))
        return False
    for name, value in zip(names, rows[0], strict=True):
        setattr(effect, name, json.loads(value) if name in JSON_COLUMNS and value is not None else value)
    return True


def _as_json(document: Mapping[str, Any] | None) -> str | None:
    return json.dumps(dict(document)) if document is not None else None


def _duplicate_message(earlier: Effect, *, is_allowed: bool) -> str:
    if earlier.state == EffectState.DONE:
        said = f" {earlier.told}" if earlier.told else ""
        return f"It was done already, and isn't done a second time.{said}"
    if earlier.state == EffectState.PLANNED and is_allowed:
        return "The same is allowed and being done now, so it isn't begun a second time; whether it happened isn't known yet."
    if earlier.state == EffectState.PLANNED:
        return "The same waits for a colleague, who has to approve it, so it isn't asked for a second time."
    return "The same is under way already, so it isn't begun a second time; whether it happened isn't known yet."
