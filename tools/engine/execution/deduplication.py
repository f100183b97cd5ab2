"""What makes an effect the same thing as another (E6)."""

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
from tools.models import Effect, EffectOrigin, EffectState

DEFAULT_WINDOW = timedelta(minutes=10)
# Kinds whose second time is a mistake for longer than ten minutes.
WINDOWS: Mapping[str, timedelta] = {"booking": timedelta(hours=24), "meeting": timedelta(hours=24)}
# By the kind as which it is compared: who agrees on one day and time with the same people wants one of both.
SAME_WISH: Mapping[str, str] = {"meeting": "booking"}
STANDING = (EffectState.SENDING, EffectState.DONE, EffectState.UNKNOWN)


def repeat_key(kind: str, same: str | None) -> str:
    """What two effects have in common that are the same thing; "" for one that is never a repeat."""
    return hashlib.sha256(f"{SAME_WISH.get(kind, kind)}\n{same}".encode()).hexdigest() if same else ""


def find_same(effect: Effect) -> Effect | None:
    """What was done already, or may have been, within the kind's window: the same thing of the same project by its key alone."""
    if not effect.repeat_key:
        return None
    rows = _same(WINDOWS.get(effect.kind, DEFAULT_WINDOW), has_conversation=effect.conversation_id is not None)
    where = [] if effect.conversation_id is None else [effect.conversation_id]
    return next(iter(rows(effect.repeat_key, effect.pk, effect.project_id, *where)), None)


@cache
def _same(window: timedelta, *, has_conversation: bool) -> PreparedQuery[Effect]:
    def build(key: str, effect: UUID, project: UUID, conversation: UUID | None = None) -> QuerySet[Effect]:
        since = Now() - Cast(Value(window), DurationField())
        # Outside of conversations the project says whose it is: two of them may have a tool of one name.
        standing = Effect.objects.filter(
            repeat_key=key, project_id=project, conversation_id=conversation, state__in=STANDING, started_at__gt=since
        )
        return standing.exclude(pk=effect).order_by("-started_at")[:1]

    return PreparedQuery(build, kinds=(str, UUID, UUID, UUID) if has_conversation else (str, UUID, UUID))


def find_repeated(effect: Effect) -> Effect | None:
    """What was done already, or may have been, within the kind's window.

    The same thing by its key; and whatever the same tool sent to the same recipient, or any tool of the kind within one turn,
    because a model words a text anew each time: what was called and promised in the same breath is done once (D18). So is
    what the same tool, which writes to nobody, was called for in the turn. Under the conversation's lock, so that of two
    effects that begin at once one sees the other.
    """
    window = WINDOWS.get(effect.kind, DEFAULT_WINDOW)
    standing = Effect.objects.filter(
        _alike(effect), conversation_id=effect.conversation_id, state__in=STANDING, started_at__gt=Now() - window
    )
    return standing.exclude(pk=effect.pk).order_by("-started_at").first()


def find_waiting(effect: Effect, *, among: Collection[UUID]) -> Effect | None:
    """What hasn't begun, of effects that a person decides about, and is the same.

    The same thing by its key however long it waits; other words to the same recipient within the kind's window.
    """
    recent = Q(created_at__gt=Now() - WINDOWS.get(effect.kind, DEFAULT_WINDOW))
    waiting = Effect.objects.filter(
        _same_thing(effect) | (_alike(effect) & recent), state=EffectState.PLANNED, pk__in=among
    )
    return waiting.exclude(pk=effect.pk).order_by("created_at").first()


def _same_thing(effect: Effect) -> Q:
    return Q(repeat_key=effect.repeat_key) if effect.repeat_key else Q(pk=None)


def _alike(effect: Effect) -> Q:
    same = _same_thing(effect)
    if effect.repeat_key and effect.turn_id is not None and effect.origin == EffectOrigin.COMMITMENT:
        # Called while the agent answered, and promised in that answer: other words for the one thing.
        same |= Q(tool=effect.tool, turn_id=effect.turn_id, origin=EffectOrigin.TURN)
    if effect.recipient:
        same |= Q(tool=effect.tool, recipient=effect.recipient)
        if effect.turn_id is not None:
            same |= Q(kind=effect.kind, recipient=effect.recipient, turn_id=effect.turn_id)
    return same


def same_thing(effect: Effect, arguments: Mapping[str, Any], context: ToolContext) -> str:
    """The repeat key: the handler says what it is of a built-in tool's; of a webhook it is the request. Looking something
    up is never a repeat.
    """
    definition = definition_of(effect)
    if (handler := handler_of(effect.tool, definition)) is not None:
        return repeat_key(effect.kind, handler.repeat_of(arguments, context))
    if definition.action.type is ActionType.SEND_WEBHOOK and effect.delivery == RetryPolicy.ONCE:
        request = json.dumps([effect.tool, arguments], sort_keys=True, ensure_ascii=False)
        return repeat_key(effect.kind, request.casefold())
    return ""
