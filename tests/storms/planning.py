"""Planned effects by the hundred, with their jobs, as the tool caller leaves them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils import timezone

from conversations.live.event_log import open_log
from conversations.models import Turn, TurnStatus
from jobs.enqueue import enqueue
from tests.conversations.conftest import Talk
from tests.conversations.effects.conftest import webhook
from tools.engine.catalogue import CompiledTool, compile_tools
from tools.engine.custom.service import save
from tools.engine.execution.deduplication import repeat_key
from tools.engine.execution.plan import effect_key
from tools.engine.ledger import job_for
from tools.models import Effect

TELL = {"type": "send_urgent_message", "options": {"prefix": "Crew"}}
SET = {"type": "set_persona_attribute", "options": {"attribute": "seen", "value": "yes"}}
# Every tenth plan is promised a second time.
EVERY_SO_MANY = 10


def save_tools(talk: Talk, url: str) -> list[str]:
    """One tool of each retry policy, and one of each kind that reports back."""
    options: dict[str, dict[str, Any]] = {
        "once": {"delivery": "once"},
        "once_tells": {"delivery": "once", "after_actions": [SET, TELL]},
        "again": {"delivery": "idempotent"},
        "again_tells": {"delivery": "idempotent", "after_actions": [TELL]},
    }
    with talk.tenant.tx():
        for name, more in options.items():
            save(talk.tenant.project, name=name, document=webhook(f"{url}/{name}", timeout_seconds=1, **more))
    return list(options)


def plan(
    talks: Sequence[Talk], names: Sequence[str], *, first: int, count: int, is_queued: bool = True
) -> list[Effect]:
    """Effects from number `first` on, spread over the conversations; every tenth is promised twice."""
    effects: list[Effect] = []
    for place, talk in enumerate(talks):
        mine = [number for number in range(first, first + count) if number % len(talks) == place]
        if mine:
            effects += _plan_in(talk, names, mine, is_queued=is_queued)
    return effects


def _plan_in(talk: Talk, names: Sequence[str], numbers: Sequence[int], *, is_queued: bool) -> list[Effect]:
    with talk.tenant.tx():
        compiled = {tool.name: tool for tool in compile_tools(talk.tenant.project, channel="chat")}
        with open_log(talk.conversation.pk) as log:
            turn = log.add_turn()
        Turn.objects.filter(pk=turn.pk).update(status=TurnStatus.DONE)
        twice = [number for number in numbers if number % EVERY_SO_MANY == 0]
        rows = [
            _effect(talk, turn, compiled[names[number % len(names)]], number, index)
            for index, number in enumerate([*numbers, *twice])
        ]
        effects = Effect.objects.bulk_create(rows)
        if is_queued:
            enqueue([job_for(effect) for effect in effects])
    return effects


def _effect(talk: Talk, turn: Turn, tool: CompiledTool, number: int, index: int) -> Effect:
    same = f"{tool.name} {number}" if tool.delivery == "once" else None
    return Effect(
        project_id=talk.conversation.project_id,
        conversation_id=talk.conversation.pk,
        turn_id=turn.pk,
        effect_key=effect_key(origin=turn.pk, tool=tool.name, step=0, index=index),
        tool=tool.name,
        tool_origin=tool.origin,
        tool_version=tool.version,
        kind=tool.kind,
        delivery=tool.delivery,
        definition=tool.definition.model_dump(mode="json", by_alias=True),
        quote="I'll notify the crew.",
        arguments={"body": {"number": number}},
        arranged_at=timezone.now(),
        repeat_key=repeat_key(tool.kind, same),
    )
