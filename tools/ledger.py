"""Planning effects, and moving them through their states. Every change is compare-and-set."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Now

from tools.judge import Judgement
from tools.models import Effect, EffectState, Verdict


def store_verdicts(judgements: Iterable[Judgement], *, conversation_id: UUID, turn_id: UUID) -> list[Verdict]:
    """Keep every verdict of a reply, in the running transaction."""
    return Verdict.objects.bulk_create(
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
        for judgement in judgements
    )


def plan_effects(
    judgements: Iterable[Judgement], *, project_id: UUID, conversation_id: UUID, turn_id: UUID
) -> list[Effect]:
    """One planned effect per fired tool, with the tool as it is now. The caller queues a job for each."""
    return Effect.objects.bulk_create(
        Effect(
            project_id=project_id,
            conversation_id=conversation_id,
            turn_id=turn_id,
            effect_key=effect_key(origin=turn_id, tool=judgement.tool.name, step=0, index=0),
            tool=judgement.tool.name,
            kind=judgement.tool.kind,
            delivery=judgement.tool.delivery,
            definition=judgement.tool.definition.model_dump(mode="json", by_alias=True),
            arguments={"quote": judgement.quote},
        )
        for judgement in judgements
        if judgement.fired
    )


def effect_key(*, origin: UUID, tool: str, step: int, index: int) -> str:
    """What makes an effect one: where its plan stands, never what a model wrote."""
    return hashlib.sha256(f"{origin}:{tool}:{step}:{index}".encode()).hexdigest()


def begin_sending(effect_id: UUID) -> bool:
    """Mark an effect as begun; to be committed before its first byte leaves. False when it is over already."""
    changed = Effect.objects.filter(pk=effect_id, state__in=(EffectState.PLANNED, EffectState.SENDING)).update(
        state=EffectState.SENDING, attempts=F("attempts") + 1, started_at=Now()
    )
    return changed == 1


def mark_done(effect_id: UUID, *, result: dict[str, Any]) -> bool:
    """Mark an effect as done, once. False when it wasn't being sent."""
    changed = Effect.objects.filter(pk=effect_id, state=EffectState.SENDING).update(
        state=EffectState.DONE, result=result, finished_at=Now()
    )
    return changed == 1


def mark_failed(effect_id: UUID, *, reason: str) -> bool:
    """Mark an effect as certainly not done. False when it is over already."""
    changed = Effect.objects.filter(pk=effect_id, state__in=(EffectState.PLANNED, EffectState.SENDING)).update(
        state=EffectState.FAILED, error=reason[:2000], finished_at=Now()
    )
    return changed == 1
