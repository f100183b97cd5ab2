"""Plans of effects. Every effect and the context it runs in are built here."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, cast
from uuid import UUID

from tenancy.write_batch import insert_rows
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.deduplication import effect_repeat_key
from tools.engine.execution.handler import Place, ToolContext
from tools.engine.execution.limits import recipient_of
from tools.engine.verdicts import Judgement
from tools.models import Effect, EffectOrigin


def plan_effect(
    tool: CompiledTool,
    place: Place,
    *,
    origin: EffectOrigin,
    key: str,
    quote: str = "",
    arguments: Mapping[str, Any] | None = None,
    addressee: str = "",
) -> Effect:
    """Build the planned, unstored effect of a tool, with a snapshot of its definition.

    `key` comes from the stored plan (see `effect_key`). Without `arguments`, they are extracted later. `addressee`
    is the recipient if the tool lets a model choose one.
    """
    effect = Effect(
        project_id=place.project_id,
        conversation_id=place.conversation_id,
        turn_id=place.turn_id,
        origin=origin,
        effect_key=key,
        tool=tool.name,
        tool_origin=tool.origin,
        tool_version=tool.version,
        kind=tool.kind,
        delivery=tool.delivery,
        definition=tool.definition.model_dump(mode="json", by_alias=True),
        quote=quote,
    )
    if arguments is not None:
        effect.arguments, effect.arranged_at = dict(arguments), place.at
        identify(effect, effect_context(effect, place), addressee=addressee)
    return effect


def plan_commitments(judgements: Iterable[Judgement], place: Place) -> list[Effect]:
    """Store one planned effect per fired tool, in the order of the judgements. The caller queues a job for each."""
    fired = [judgement for judgement in judgements if judgement.fired]
    return insert_rows(
        plan_effect(
            judgement.tool,
            place,
            origin=EffectOrigin.COMMITMENT,
            key=effect_key(origin=cast(UUID, place.turn_id), tool=judgement.tool.name, step=0, index=0),
            quote=judgement.quote,
        )
        for judgement in fired
    )


def effect_key(*, origin: UUID, tool: str, step: int, index: int) -> str:
    """The unique key of an effect: its position in the plan, never model output."""
    return hashlib.sha256(f"{origin}:{tool}:{step}:{index}".encode()).hexdigest()


def effect_context(effect: Effect, place: Place) -> ToolContext:
    """The context in which an effect is executed."""
    return replace(place, turn_id=effect.turn_id).context(
        effect_id=effect.pk, key=effect.effect_key, quote=effect.quote
    )


def identify(effect: Effect, context: ToolContext, *, addressee: str = "") -> None:
    """Set the repeat key and the recipient of an effect from its arguments and the customer; nothing is stored."""
    effect.repeat_key = effect_repeat_key(effect, effect.arguments, context)
    effect.recipient = (addressee.lower() or recipient_of(effect.kind, context.contact))[:254]
