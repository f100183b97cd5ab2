"""Making good: for each broken promise, a todo with a draft of the correction and the next step.

The sweep queues one job per promise; its flow asks a model for the draft (conversations.flows.make_good). If no model
is available, the todo has the fixed sentences below.
"""

from __future__ import annotations

from uuid import UUID
from zoneinfo import ZoneInfo

from conversations.common.customer_names import conversation_names
from conversations.models import Conversation
from conversations.prompts.make_good import MakeGood
from jobs.enqueue import JobRequest, enqueue
from jobs.sweep import sweep_tenants
from notices.models import NoticeKind
from notices.services import notify
from todos.content.lifecycle import AGENT
from todos.models import Todo, TodoSource, TodoType
from todos.models.title import shorten_title
from todos.services import make_todo
from tools.engine.registry import builtin_tools
from tools.models import EffectState, Promise, PromiseState

LANE = "make_good"
# Kinds of tools that write to the customer: a todo with one of them can send the correction itself.
WRITES = ("email", "sms")
LONGEST_DRAFT = 1_500
TITLE = "Make good: {quote}"
CORRECTION = "Correction: on {day} the agent said “{quote}”, and that did not happen. {reason}"
DRAFTED = CORRECTION + "\nTell the customer: “{correction}”\nNext step: {step}"
FIXED = CORRECTION + " Tell the customer so, apologize in one sentence, and say what happens next.\nNext step: {step}"
# If the answer was lost, nobody is told that the effect did not happen.
UNCERTAIN = (
    "Correction: on {day} the agent said “{quote}”, and we don't know whether that happened: the answer was lost.\n"
    "Next step: confirm the outcome under Effects. If it did not happen, do it by hand and tell the customer about the delay."
)
BY_HAND = "do what was promised by hand, or tell the customer why it can't be done and what they can do instead."
TOOL_FAILED = "{tool} did not do it; see to what was promised by hand, or say what the customer can do instead."

# One that was not sent is no broken word yet: staff connects a provider (docs/decisions/024-kept-by-evidence.md).
# A promise with a make-good todo or job is done, whatever becomes of the todo. Older ones are history.
_BROKEN = """
select p.organization_id, p.id from tools_promise p
where p.state = 'broken' and p.evidence <> 'outbox' and p.closed_at > clock_timestamp() - interval '1 day'
  and not exists (select 1 from todos_todo t where t.promise_id = p.id and t.source = 'make_good')
  and not exists (select 1 from jobs_job j where j.organization_id = p.organization_id and j.key = 'make_good:' || p.id)
order by p.closed_at limit 100
"""


def draft_make_goods() -> None:
    """Queue a job for each newly broken promise in all tenants; a sweep hook. Concurrent sweeps queue one per promise."""
    sweep_tenants(_BROKEN, _queue, failed="A broken promise was not made good")


def broken_promise(promise_id: UUID) -> Promise | None:
    """The promise if it is still broken; one that was kept late is not made good."""
    return Promise.objects.filter(pk=promise_id, state=PromiseState.BROKEN).first()


def day_of(promise: Promise, conversation: Conversation) -> str:
    """The date of the promise in the business's time zone."""
    said_at = promise.created_at.astimezone(ZoneInfo(conversation.project.agent_version.config.timezone))
    return f"{said_at:%d %B}"


def make_good(promise: Promise, conversation: Conversation, draft: MakeGood | None) -> Todo:
    """Create the promise's only make-good todo, in the running transaction. Without a draft it has fixed sentences."""
    return make_todo(
        conversation.project,
        description=_description(promise, draft, day=day_of(promise, conversation)),
        title=shorten_title(TITLE.format(quote=promise.quote)),
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


def is_uncertain(promise: Promise) -> bool:
    """True if the promised effect may have happened."""
    return promise.effect is not None and promise.effect.state == EffectState.UNKNOWN


def _description(promise: Promise, draft: MakeGood | None, *, day: str) -> str:
    words = {"day": day, "quote": promise.quote, "reason": promise.reason}
    if is_uncertain(promise):
        return UNCERTAIN.format(**words)
    correction, step = (_line(draft.correction), _line(draft.next_step)) if draft is not None else ("", "")
    if correction and step:
        return DRAFTED.format(correction=correction, step=step, **words)
    return FIXED.format(step=_next_step(promise), **words)


def _queue(promise_id: UUID) -> None:
    promise = broken_promise(promise_id)
    if promise is not None:
        key = f"{LANE}:{promise.pk}"
        enqueue([JobRequest(lane=LANE, project_id=promise.project_id, subject_id=promise.pk, ordinal=0, key=key)])
        _notify(promise)


def _notify(promise: Promise) -> None:
    """Notify operators of a broken promise, unless its conversation is a test."""
    rows = Conversation.objects.filter(pk=promise.conversation_id)
    if any(row.is_test for row in rows):
        return
    text = ": ".join((*conversation_names(rows).values(), f"“{promise.quote}”"))
    notify(promise.project_id, kind=NoticeKind.BROKEN, subject=promise.pk, object_id=promise.pk, text=text)


def _line(text: str) -> str:
    """The model's text as one line, so that it cannot imitate the todo's other lines; empty if too long."""
    words = " ".join(text.replace("\0", "").split())
    return words if len(words) <= LONGEST_DRAFT else ""


def _next_step(promise: Promise) -> str:
    return TOOL_FAILED.format(tool=promise.tool) if promise.tool else BY_HAND


def _type_for(promise: Promise) -> TodoType | None:
    """The type of the todo that failed to keep the promise, else the first type that can write to the customer."""
    types = TodoType.objects.filter(project_id=promise.project_id, is_removed=False).order_by("name")
    earlier = types.filter(todos__promise=promise).first()
    return earlier or next((type for type in types if _writes(type)), None)


def _writes(type: TodoType) -> bool:
    tools = builtin_tools()
    return any(name in tools and tools[name].kind in WRITES for name in type.tools)
