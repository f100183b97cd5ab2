"""Making good: for a promise that broke, a draft of what to tell the customer and of what to do next, as a todo (D16)."""

from __future__ import annotations

import logging
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connections

from conversations.models import Conversation
from projects.tenancy import tenant_tx
from todos.lifecycle import AGENT
from todos.models import TodoSource, TodoType
from todos.services import make_todo
from tools.builtin import builtin_tools
from tools.models import Promise, PromiseState

logger = logging.getLogger(__name__)

# Kinds of tools that write to somebody: a todo with one of them can carry the correction itself.
WRITES = ("email", "sms")
DESCRIPTION = (
    "Correction: on {day} the agent said “{quote}”, and that did not happen. {reason} Tell the customer so, apologise in one "
    "sentence, and say what happens next.\nNext step: {step}"
)
BY_HAND = "do what was promised by hand, or tell the customer why it can't be done and what they can do instead."
AGAIN = "{tool} did not do it; see to what was promised by hand, or say what the customer can do instead."

# One of which a todo was made is made good, whatever becomes of the todo. Older ones are history.
_BROKEN = """
select p.organization_id, p.id from tools_promise p
where p.state = 'broken' and p.closed_at > clock_timestamp() - interval '1 day'
  and not exists (select 1 from todos_todo t where t.promise_id = p.id and t.source = 'make_good')
order by p.closed_at limit 100
"""


def draft_make_goods() -> None:
    """A todo for each promise that broke, in all tenants: the sweep's hook. Several at once make one for each."""
    for organization_id, promise_id in _broken():
        try:
            with tenant_tx(organization_id):
                _draft(promise_id)
        except Exception:  # the worker's edge: one promise's trouble keeps no other from being made good
            logger.exception("The broken promise %s was not made good.", promise_id)


def _broken() -> list[tuple[UUID, UUID]]:
    with connections["ops"].cursor() as cursor:
        cursor.execute(_BROKEN)
        return [(organization_id, promise_id) for organization_id, promise_id in cursor.fetchall()]


def _draft(promise_id: UUID) -> None:
    promise = Promise.objects.filter(pk=promise_id, state=PromiseState.BROKEN).first()
    if promise is None:
        return
    conversation = Conversation.objects.select_related("project__agent_version").get(pk=promise.conversation_id)
    said_at = promise.created_at.astimezone(ZoneInfo(conversation.project.agent_version.config.timezone))
    make_todo(
        conversation.project,
        description=DESCRIPTION.format(
            day=f"{said_at:%d %B}", quote=promise.quote, reason=promise.reason, step=_next_step(promise)
        ),
        source=TodoSource.MAKE_GOOD,
        actor=AGENT,
        type=_type_for(promise),
        conversation_id=conversation.pk,
        turn_id=promise.turn_id,
        persona_id=conversation.persona_id,
        promise=promise,
        quote=promise.quote,
        source_key=f"make_good:{promise.pk}",
    )


def _next_step(promise: Promise) -> str:
    return AGAIN.format(tool=promise.tool) if promise.tool else BY_HAND


def _type_for(promise: Promise) -> TodoType | None:
    """The type of the todo that failed to keep it, else the first one that can write to the customer."""
    types = TodoType.objects.filter(project_id=promise.project_id, is_removed=False).order_by("name")
    earlier = types.filter(todos__promise=promise).first()
    return earlier or next((type for type in types if _writes(type)), None)


def _writes(type: TodoType) -> bool:
    tools = builtin_tools()
    return any(name in tools and tools[name].kind in WRITES for name in type.tools)
