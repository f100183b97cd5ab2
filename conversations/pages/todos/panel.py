"""One todo with all that is known of it, and all that an approval of it would cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from conversations.finding import customer_names
from conversations.models import Conversation, Turn
from conversations.pages.effect_words import Standing, standing_of, title_of
from conversations.pages.moments import Moment, moment_of
from conversations.pages.questions import ask
from conversations.pages.todos.hidden import hidden_count, revealed
from conversations.pages.todos.plan import Content, plan_of
from conversations.pages.todos.run_log import runs_of
from conversations.pages.todos.story import happening_of, story_of
from conversations.pages.todos.words import SOURCES, STANDINGS, approvers_of
from projects.models.key import Scope
from projects.permissions import Entry
from todos.approvals import may_approve, needs_second, why_not_runnable
from todos.authority import wanted_role
from todos.content import compiled_tools, content_of, hash_of
from todos.lifecycle import AFTER
from todos.models import Approval, Todo, TodoEvent, TodoStatus
from tools.models import Effect, EffectState

S = TodoStatus
SHORT_HASH = 6
REPEATABLE = (EffectState.DONE, EffectState.UNKNOWN, EffectState.FAILED, EffectState.HELD)


@dataclass(frozen=True)
class Yes:
    """An approval in words; `holds` until a moment, or not any more."""

    by: str
    second_by: str
    version: int
    waits_for_second: bool
    holds: bool
    at: Moment
    until: Moment


@dataclass(frozen=True)
class Note:
    """Something to be known before anything is decided."""

    tone: str
    icon: str
    title: str
    sentence: str


@dataclass(frozen=True)
class Done:
    """An effect that the todo had; `id` is what a repeat is asked for by."""

    id: Any
    title: str
    standing: Standing
    error: str


@dataclass(frozen=True)
class May:
    """What whoever looks at the todo may do to it now."""

    approve: bool
    edit: bool
    reject: bool
    cancel: bool
    review_again: bool
    allow_always: bool


def panel_of(todo: Todo, entry: Entry, *, zone: str) -> dict[str, Any]:
    """Everything `todos/_panel.html` shows. Inside the tenant's transaction."""
    tools = compiled_tools(entry.project)
    content = content_of(todo, tools=tools)
    approvals = list(Approval.objects.filter(todo=todo).order_by("created_at"))
    approval = next((one for one in approvals[::-1] if one.version == todo.version and one.ended_at is None), None)
    said = (
        approval if todo.status == S.PENDING_REVIEW else next((one for one in approvals[::-1] if one.is_complete), None)
    )
    problem = why_not_runnable(todo, tools=tools) if todo.status == S.PENDING_REVIEW else ""
    effects = _effects(todo)
    questions = ask([row for row in effects if row.state == EffectState.UNKNOWN], zone=zone)
    made = moment_of(todo.created_at, zone=zone)
    title = revealed(todo.description.strip())
    plan = plan_of(content, _before(todo, approvals), tools=tools)
    return {
        "todo": todo,
        "title": title,
        "standing": STANDINGS[todo.status],
        "source": SOURCES[todo.source],
        "quote": revealed(todo.quote.strip()),
        "made": made,
        "made_ago": _ago(made),
        "expires": moment_of(todo.expires_at, zone=zone),
        "plan": plan,
        "hidden": plan.hidden + hidden_count(title),
        "hash": hash_of(content),
        "short_hash": hash_of(content)[:SHORT_HASH],
        "yes": _yes(said, zone) if said else None,
        "notes": _notes(todo, approvals, problem, zone=zone),
        "may": _may(todo, entry, approval, problem),
        "approvers": approvers_of(wanted_role(todo)),
        "runs": runs_of(todo, tools=tools, zone=zone),
        "story": story_of(todo, zone=zone),
        "effects": [Done(row.pk, title_of(row), standing_of(row), row.error) for row in effects],
        "repeatable": [Done(row.pk, title_of(row), standing_of(row), "") for row in effects if row.state in REPEATABLE],
        "questions": questions,
        "questions_count": len(questions),
        "once_more": [title_of(row) for row in effects if str(row.pk) in todo.repeats],
        "promise": todo.promise,
        **_origin(todo),
    }


def _ago(moment: Moment) -> str:
    """When something was, within a sentence."""
    if moment.words == "now":
        return "just now"
    return f"{moment.words} ago" if moment.words.endswith((" min", " h")) else moment.words


def _before(todo: Todo, approvals: Sequence[Approval]) -> Content | None:
    """What the current version is to be compared with: what was approved last, else what was proposed first."""
    if todo.version == 1:
        return None
    older = [approval.content for approval in approvals if approval.version < todo.version]
    if older:
        return dict(older[-1])
    first = TodoEvent.objects.filter(todo=todo, detail__has_key="content").order_by("at", "id").first()
    return dict(first.detail["content"]) if first else None


def _effects(todo: Todo) -> list[Effect]:
    """What the todo did or is to do: its own effect, and those of its calls."""
    wanted = Q(todo_calls__step__todo=todo) | Q(pk=todo.effect_id)
    return list(Effect.objects.filter(wanted).distinct().order_by("created_at", "id"))


def _yes(approval: Approval, zone: str) -> Yes:
    return Yes(
        by=approval.approver,
        second_by=approval.second_approver,
        version=approval.version,
        waits_for_second=not approval.is_complete,
        holds=approval.ended_at is None,
        at=moment_of(approval.second_at or approval.created_at, zone=zone),
        until=moment_of(approval.expires_at, zone=zone),
    )


def _notes(todo: Todo, approvals: Sequence[Approval], problem: str, *, zone: str) -> list[Note]:
    if todo.status != S.PENDING_REVIEW:
        standing = STANDINGS[todo.status]
        return [Note(standing.tone, standing.icon, standing.word, todo.reason)] if todo.reason else []
    notes = [_changed(todo, approvals, zone=zone)] if todo.version > 1 else []
    standing_yes = next((one for one in approvals if one.version == todo.version and one.ended_at is None), None)
    if standing_yes is not None:
        sentence = f"{standing_yes.approver} said yes. Nothing happens before a second person does."
        notes.append(Note("act", "users", "Two people have to approve this.", sentence))
    elif not problem and needs_second(todo):
        notes.append(Note("mute", "users", "Two people have to approve this.", "Whoever says yes now is the first."))
    if problem:
        notes.append(Note("bad", "alert-circle", "It can’t be approved as it is.", problem))
    return notes


def _changed(todo: Todo, approvals: Sequence[Approval], *, zone: str) -> Note:
    """What began the version that stands, and that nothing of it happens yet."""
    event = TodoEvent.objects.filter(todo=todo, version=todo.version).order_by("at", "id").first()
    by = f"{happening_of(event, zone).sentence} " if event else ""
    was_approved = any(approval.version < todo.version for approval in approvals)
    title = "It changed after it was approved." if was_approved else "It changed since it was proposed."
    if event is not None and event.what == "reviewed_again":
        title = "It is reviewed again."
    return Note("warn", "pencil", title, f"{by}Nothing happens until version {todo.version} is approved.")


def _may(todo: Todo, entry: Entry, approval: Approval | None, problem: str) -> May:
    """The services decide again; this is for what is offered."""
    status, operates = TodoStatus(todo.status), entry.may(Scope.OPERATE)
    is_pending = status == S.PENDING_REVIEW
    is_first = approval is not None and approval.approved_by == entry.member.pk
    return May(
        approve=is_pending and may_approve(todo, entry.member.role) and not problem and not is_first,
        edit=operates and status in (S.PENDING_REVIEW, S.APPROVED),
        reject=operates and is_pending,
        cancel=operates and not is_pending and S.CANCELLED in AFTER[status],
        review_again=operates and status in (S.FAILED, S.NEEDS_ATTENTION),
        allow_always=entry.may(Scope.CONFIGURE) and bool(todo.tool) and not needs_second(todo),
    )


def _origin(todo: Todo) -> Mapping[str, Any]:
    """The conversation and the turn that it comes from, and what to call the customer."""
    conversation = Conversation.objects.filter(pk=todo.conversation_id).first() if todo.conversation_id else None
    turn = Turn.objects.filter(pk=todo.turn_id).first() if todo.turn_id else None
    persona = todo.persona_id or (conversation.persona_id if conversation else None)
    return {
        "conversation": conversation,
        "turn": turn,
        "customer": customer_names([persona]).get(persona, "Unnamed customer") if persona else "",
    }
