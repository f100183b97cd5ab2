"""After-actions: which ones run after an action, in which order, and on which input."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from django.db.models.functions import Now

from jobs.fence import job_tx
from jobs.lanes import ClaimedJob
from jobs.models import State
from tools.engine.definition import (
    ActionType,
    AfterActionDefinition,
    AfterActionType,
    ToolDefinition,
    UrgentMessageOptions,
)
from tools.engine.execution.run import prefixed
from tools.engine.execution.webhook import reply_of
from tools.models import AfterAction, AfterActionState, Effect, EffectOrigin, EffectState

NOT_DONE = "The action before it was not done."
EMPTY = "The response was empty."
CALLS = (EffectOrigin.TURN, EffectOrigin.LIVE)
READ = "The agent has called the tool itself, and read its result."
NO_SUCH_PART = "The response has no {path}."


class NoInput(ValueError):
    """The after-action has no input."""


def plan_after_actions(effect: Effect, definition: ToolDefinition) -> list[AfterAction]:
    """Create one row per after-action, in the transaction that ends the effect. Those that can't run are skipped with a
    reason.
    """
    why_none = _why_none(effect, definition)
    reasons = [why_none or _why_not(one, effect) for one in definition.after_actions]
    return AfterAction.objects.bulk_create(
        AfterAction(
            effect=effect,
            index=index,
            type=one.type,
            options=one.options,
            state=AfterActionState.SKIPPED if why_not else AfterActionState.PLANNED,
            error=why_not,
        )
        for index, (one, why_not) in enumerate(zip(definition.after_actions, reasons, strict=True))
    )


def next_after_action(effect: Effect) -> AfterAction | None:
    """The first after-action that hasn't run."""
    rows = AfterAction.objects.filter(effect=effect, state=AfterActionState.PLANNED)
    return rows.order_by("index").first()


def next_or_finish(job: ClaimedJob, effect: Effect) -> AfterAction | None:
    """The next after-action of a job; finishes the job if there is none."""
    with job_tx(job):
        row = next_after_action(effect)
    if row is None:
        with job_tx(job, finish=State.DONE):
            pass
    return row


def end_after_action(
    row: AfterAction, state: AfterActionState, *, raw: str = "", value: str = "", error: str = ""
) -> bool:
    """Record the result of an after-action. Return False if it was recorded already."""
    changed = AfterAction.objects.filter(pk=row.pk, state=AfterActionState.PLANNED).update(
        state=state, raw=raw, value=value, error=error[:2000], finished_at=Now()
    )
    return changed == 1


def input_of(effect: Effect, options: Mapping[str, Any]) -> str:
    """The input of an after-action: a fixed value, the part of the response at a path, or the whole response. Raises
    NoInput.
    """
    if options.get("value") is not None:
        return str(options["value"])
    if options.get("path"):
        return _part(effect, str(options["path"]))
    text = effect.excerpt or effect.told
    if not text:
        raise NoInput(EMPTY)
    return text


def message_of(effect: Effect, options: UrgentMessageOptions) -> str:
    """The message of an after-action: its own, or the tool's result on one line, truncated."""
    result = reply_of(effect.excerpt.encode()).told or effect.told
    return prefixed(options.prefix, options.message or result)


def tells(row: AfterAction) -> bool:
    return row.type == AfterActionType.SEND_URGENT_MESSAGE


def _why_none(effect: Effect, definition: ToolDefinition) -> str:
    if effect.state != EffectState.DONE:
        return NOT_DONE
    is_webhook = definition.action.type is ActionType.SEND_WEBHOOK
    return EMPTY if is_webhook and not effect.excerpt else ""


def _why_not(one: AfterActionDefinition, effect: Effect) -> str:
    """Skip an urgent message if the agent has called the tool itself and read the result."""
    is_read = effect.origin in CALLS and effect.resolved_at is None and not effect.definition.get("requires_approval")
    return READ if is_read and one.type is AfterActionType.SEND_URGENT_MESSAGE else ""


def _part(effect: Effect, path: str) -> str:
    value: Any = (effect.result or {}).get("body")
    for step in path.split("."):
        if isinstance(value, Mapping) and step in value:
            value = value[step]
        elif isinstance(value, list) and step.isdecimal() and int(step) < len(value):
            value = value[int(step)]
        else:
            raise NoInput(NO_SUCH_PART.format(path=path))
    if value is None:
        # A JSON null is no value: "null" would be stored with the customer.
        raise NoInput(NO_SUCH_PART.format(path=path))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
