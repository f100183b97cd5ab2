"""Deduplication of effects: a second effect of the same kind and content for the same customer is held back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping
from datetime import timedelta
from functools import cache
from typing import Any
from uuid import UUID

from django.db.models import DurationField, Q, QuerySet, Value
from django.db.models.functions import Cast, Now

from tenancy.prepared_queries import PreparedQuery
from tools.engine.definition import ActionType, RetryPolicy
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.run import definition_of
from tools.engine.execution.schemas import handler_of
from tools.engine.policy import policy_of
from tools.models import Effect, EffectOrigin, EffectState

EXECUTED_STATES = (EffectState.SENDING, EffectState.DONE, EffectState.UNKNOWN)


def repeat_key(kind: str, same: str | None) -> str:
    """The key shared by duplicate effects; "" for an effect that is never a duplicate."""
    return hashlib.sha256(f"{policy_of(kind).repeats_as or kind}\n{same}".encode()).hexdigest() if same else ""


def find_duplicate(effect: Effect) -> Effect | None:
    """The latest effect with the same repeat key that was or may have been executed within the kind's window."""
    if not effect.repeat_key:
        return None
    rows = _duplicate_query(policy_of(effect.kind).repeat_window, has_conversation=effect.conversation_id is not None)
    where = [] if effect.conversation_id is None else [effect.conversation_id]
    return next(iter(rows(effect.repeat_key, effect.pk, effect.project_id, *where)), None)


@cache
def _duplicate_query(window: timedelta, *, has_conversation: bool) -> PreparedQuery[Effect]:
    def build(key: str, effect: UUID, project: UUID, conversation: UUID | None = None) -> QuerySet[Effect]:
        since = Now() - Cast(Value(window), DurationField())
        # Without a conversation, only the project tells effects apart: two projects may have tools of one name.
        standing = Effect.objects.filter(
            repeat_key=key,
            project_id=project,
            conversation_id=conversation,
            state__in=EXECUTED_STATES,
            started_at__gt=since,
        )
        return standing.exclude(pk=effect).order_by("-started_at")[:1]

    return PreparedQuery(build, kinds=(str, UUID, UUID, UUID) if has_conversation else (str, UUID, UUID))


def find_recent_duplicate(effect: Effect) -> Effect | None:
    """The latest duplicate in the conversation that was or may have been executed within the kind's window.

    A duplicate has the same repeat key, or the same recipient and tool, or the same recipient and kind within a turn: a
    model phrases a text anew each time. What staff wrote is only repeated by the same words. A commitment also duplicates a
    call of the same tool in its turn. Runs under the conversation's lock, so that of two concurrent effects one sees the other.
    """
    window = policy_of(effect.kind).repeat_window
    standing = Effect.objects.filter(
        _duplicates(effect),
        conversation_id=effect.conversation_id,
        state__in=EXECUTED_STATES,
        started_at__gt=Now() - window,
    )
    return standing.exclude(pk=effect.pk).order_by("-started_at").first()


def find_planned_duplicate(effect: Effect, *, among: Collection[UUID]) -> Effect | None:
    """The earliest planned duplicate among effects that wait for a person.

    A match by repeat key counts at any age, other matches only within the kind's window.
    """
    recent = Q(created_at__gt=Now() - policy_of(effect.kind).repeat_window)
    waiting = Effect.objects.filter(
        _same_key(effect) | (_duplicates(effect) & recent), state=EffectState.PLANNED, pk__in=among
    )
    return waiting.exclude(pk=effect.pk).order_by("created_at").first()


def _same_key(effect: Effect) -> Q:
    return Q(repeat_key=effect.repeat_key) if effect.repeat_key else Q(pk=None)


def _duplicates(effect: Effect) -> Q:
    matches = _same_key(effect)
    if effect.repeat_key and effect.turn_id is not None and effect.origin == EffectOrigin.COMMITMENT:
        # The tool was called during the turn and promised in its answer: one request, phrased twice.
        matches |= Q(tool=effect.tool, turn_id=effect.turn_id, origin=EffectOrigin.TURN)
    # A person who writes twice means it.
    if effect.recipient and effect.origin != EffectOrigin.STAFF:
        matches |= Q(tool=effect.tool, recipient=effect.recipient)
        if effect.turn_id is not None:
            matches |= Q(kind=effect.kind, recipient=effect.recipient, turn_id=effect.turn_id)
    return matches


def effect_repeat_key(effect: Effect, arguments: Mapping[str, Any], context: ToolContext) -> str:
    """The effect's repeat key: from the handler of a built-in tool, or from the request of a webhook that is sent once.

    A lookup is never a duplicate, so its key is "".
    """
    definition = definition_of(effect)
    if (handler := handler_of(effect.tool, definition)) is not None:
        return repeat_key(effect.kind, handler.repeat_of(arguments, context))
    if definition.action.type is ActionType.SEND_WEBHOOK and effect.delivery == RetryPolicy.ONCE:
        request = json.dumps([effect.tool, arguments], sort_keys=True, ensure_ascii=False)
        return repeat_key(effect.kind, request.casefold())
    return ""
