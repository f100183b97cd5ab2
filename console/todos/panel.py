"""The detail panel of a todo: content to approve, approvals, runs, effects and history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext

from console.effects.labels import StateLabel, state_label, title_of
from console.effects.unknown_outcomes import questions_for
from console.timestamps import Timestamp, format_timestamp
from console.todos.allowed_actions import allowed_actions
from console.todos.cards import due_of
from console.todos.contacts import UNNAMED
from console.todos.history import history_of
from console.todos.invisible_characters import hidden_count, mark_hidden
from console.todos.labels import SOURCES, STATUS_LABELS, approvers_of, sentence_start, with_tool_titles
from console.todos.opt_outs import opt_out_notes
from console.todos.plan import Content, Plan, plan_of
from console.todos.run_log import runs_of
from console.todos.warnings import notes_of
from conversations.common.customer_names import customer_names
from conversations.models import Conversation, Turn
from projects.common.stored_sentences import translated
from projects.models.permissions import Entry
from todos.approvals.permissions import needs_second, required_role
from todos.approvals.validity import undeliverable_of, why_not_runnable
from todos.content.deliverability import Undeliverable
from todos.content.lifecycle import AGENT
from todos.content.requested_recipients import requested_recipients
from todos.content.snapshot import compiled_tools, content_of, hash_of
from todos.models import Approval, Todo, TodoEvent, TodoStatus
from tools.engine.catalogue import CompiledTool
from tools.engine.ledger import OPEN
from tools.models import Effect, EffectState

S = TodoStatus
SHORT_HASH = 6
# Failed effects are not listed: they are retried anyway.
REPEATABLE = (EffectState.DONE, EffectState.UNKNOWN, EffectState.HELD)


@dataclass(frozen=True)
class ApprovalSummary:
    """An approval for display. `holds` is False once it has ended. `rule` is the active standing rule that gave it."""

    by: str
    rule: UUID | None
    second_by: str
    version: int
    waits_for_second: bool
    holds: bool
    at: Timestamp
    until: Timestamp


@dataclass(frozen=True)
class Done:
    """An effect of the todo. `id` is submitted to request a repeat."""

    id: Any
    title: str
    state: StateLabel
    error: str


@dataclass(frozen=True)
class PanelData:
    """Data loaded for one todo. `approval` is the valid one of the current version, `said` the one displayed, `before` the
    content to compare with. `problem` explains why the todo can't run; `unsent` lists undeliverable messages.
    """

    todo: Todo
    tools: Mapping[str, CompiledTool]
    content: Mapping[str, Any]
    approvals: Sequence[Approval]
    approval: Approval | None
    said: Approval | None
    before: Content | None
    problem: str
    unsent: Sequence[Undeliverable]
    effects: Sequence[Effect]

    @property
    def tool_names(self) -> set[str]:
        """Names of tools that a message about the todo may contain, including removed tools."""
        return {*self.tools, *self.content["tools"], *(effect.tool for effect in self.effects)}

    @property
    def is_in_review(self) -> bool:
        return self.todo.status == S.PENDING_REVIEW

    @property
    def is_by_hand(self) -> bool:
        if self.said is not None and not self.is_in_review:
            return self.said.is_by_hand
        return not self.content["tools"]


def panel_of(todo: Todo, entry: Entry, *, zone: str) -> dict[str, Any]:
    """Context for `todos/_panel.html`. Requires the tenant's transaction."""
    data = _load(todo, compiled_tools(entry.project))
    made = format_timestamp(todo.created_at, zone=zone)
    return {
        "todo": todo,
        "state": STATUS_LABELS[todo.status],
        "source": SOURCES[todo.source],
        "quote": mark_hidden(todo.quote.strip()),
        "made": made,
        "expires": format_timestamp(todo.expires_at, zone=zone),
        "promise": todo.promise,
        "due": due_of(todo, zone=zone),
        **_content_context(data),
        **_review_context(data, entry, zone=zone),
        **_outcome_context(data, zone=zone),
        **_origin_context(todo),
    }


def _load(todo: Todo, tools: Mapping[str, CompiledTool]) -> PanelData:
    approvals = list(Approval.objects.filter(todo=todo).select_related("rule").order_by("created_at"))
    approval = next((one for one in approvals[::-1] if one.version == todo.version and one.ended_at is None), None)
    complete = next((one for one in approvals[::-1] if one.is_complete), None)
    is_in_review = todo.status == S.PENDING_REVIEW
    problem = why_not_runnable(todo, tools=tools) if is_in_review else ""
    return PanelData(
        todo=todo,
        tools=tools,
        content=content_of(todo, tools=tools),
        approvals=approvals,
        approval=approval,
        said=approval if is_in_review else complete,
        before=_previous_content(todo, approvals),
        problem=problem,
        unsent=undeliverable_of(todo, tools=tools) if is_in_review else [],
        effects=_effects(todo),
    )


def _content_context(data: PanelData) -> dict[str, Any]:
    """The content that an approval covers, with its hash."""
    heading = with_tool_titles(translated(data.todo.heading), data.tool_names)
    title = mark_hidden(heading)
    plan = plan_of(
        data.content,
        data.before if data.is_in_review else None,
        tools=data.tools,
        is_titled=data.todo.description.strip() == heading,
    )
    digest = hash_of(data.content)
    return {
        "title": title,
        "name": heading,
        "is_edited": data.before is not None and data.todo.version > 1,
        "plan": plan,
        "heading": _heading(data.todo, plan, was_approved=data.said is not None),
        "hidden": plan.hidden + (0 if plan.has_task else hidden_count(title)),
        "hash": digest,
        "short_hash": digest[:SHORT_HASH],
        "wanted": [(one, mark_hidden(one)) for one in requested_recipients(data.todo, tools=data.tools)],
    }


def _review_context(data: PanelData, entry: Entry, *, zone: str) -> dict[str, Any]:
    """The approval so far, notes for the reviewer, and the actions they may take."""
    before, todo = data.before, data.todo
    notes = notes_of(
        todo,
        data.approvals,
        problem=with_tool_titles(data.problem, data.tool_names),
        reason=with_tool_titles(translated(todo.reason), data.tool_names),
        unsent=[] if data.problem else data.unsent,
        is_by_hand=data.is_by_hand,
        is_proposal=before is None,
        differs=before is not None and _without_repeats(before) != _without_repeats(data.content),
        tools=data.tool_names,
        zone=zone,
    )
    named = [data.tools[name] for name in data.content["tools"] if name in data.tools]
    return {
        "approval": _approval_summary(data.said, todo, zone) if data.said else None,
        "notes": [*notes, *(opt_out_notes(todo, named) if data.is_in_review else [])],
        "problem": data.problem,
        "is_by_hand": data.is_by_hand,
        "allowed": allowed_actions(
            todo, entry, data.approval, problem=data.problem, unsent=data.unsent, effects=data.effects
        ),
        "approvers": approvers_of(required_role(todo)),
    }


def _outcome_context(data: PanelData, *, zone: str) -> dict[str, Any]:
    """Runs, history, effects and unknown outcomes."""
    todo, effects = data.todo, data.effects
    questions = questions_for([row for row in effects if row.state == EffectState.UNKNOWN], zone=zone)
    return {
        "runs": runs_of(todo, tools=data.tools, zone=zone),
        "history": history_of(todo, tools=data.tool_names, zone=zone),
        "effects": [
            Done(row.pk, title_of(row), state_label(row), with_tool_titles(row.error, data.tool_names))
            for row in effects
        ],
        "repeatable": [
            Done(row.pk, title_of(row), state_label(row), "") for row in effects if _is_repeatable(todo, row)
        ],
        "questions": questions,
        "questions_count": len(questions),
        "repeats": [title_of(row) for row in effects if str(row.pk) in todo.repeats],
    }


def _is_repeatable(todo: Todo, effect: Effect) -> bool:
    """Return True if a repeat of the effect can be requested. A planned effect of unknown outcome can't: the panel already
    asks whether it happened.
    """
    is_asked = effect.pk == todo.effect_id and effect.state == EffectState.UNKNOWN
    return effect.state in REPEATABLE and not is_asked


def _heading(todo: Todo, plan: Plan, *, was_approved: bool) -> str:
    """Heading above the fields: what will happen, or what was proposed or approved once the todo is over or done by hand."""
    is_open = todo.effect is None or todo.effect.state in (*OPEN, EffectState.HELD)
    if todo.status in (S.PENDING_REVIEW, S.APPROVED, S.IN_PROGRESS) and not todo.taker and is_open:
        return plan.heading
    return gettext("Approved content") if was_approved else gettext("Proposed content")


def _previous_content(todo: Todo, approvals: Sequence[Approval]) -> Content | None:
    """Content to compare the current version with: the last approved one, otherwise the proposal.

    None for the first version and for the proposal itself.
    """
    if todo.version == 1:
        return None
    older = [approval.content for approval in approvals if approval.version < todo.version]
    if older:
        return dict(older[-1])
    proposed = _proposal(todo)
    return dict(proposed.detail["content"]) if proposed and proposed.version != todo.version else None


def _proposal(todo: Todo) -> TodoEvent | None:
    """The event that holds the first proposal, including details that the agent filled in afterwards."""
    proposed: TodoEvent | None = None
    for event in TodoEvent.objects.filter(todo=todo, detail__has_key="content").order_by("at", "id"):
        if proposed is not None and (event.what, event.actor) != ("edited", AGENT.name):
            break
        proposed = event
    return proposed


def _without_repeats(content: Content) -> Content:
    """The content without requested repeats, which are displayed separately."""
    return {**content, "repeats": None}


def _effects(todo: Todo) -> list[Effect]:
    """The todo's planned effect and the effects of its calls."""
    wanted = Q(todo_calls__step__todo=todo) | Q(pk=todo.effect_id)
    return list(Effect.objects.filter(wanted).distinct().order_by("created_at", "id"))


def _approval_summary(approval: Approval, todo: Todo, zone: str) -> ApprovalSummary:
    return ApprovalSummary(
        by=sentence_start(approval.approver),
        rule=approval.rule_id if approval.rule is not None and approval.rule.ended_at is None else None,
        second_by=approval.second_approver,
        version=approval.version,
        waits_for_second=not approval.is_complete and needs_second(todo),
        holds=approval.ended_at is None,
        at=format_timestamp(approval.second_at or approval.created_at, zone=zone),
        until=format_timestamp(approval.expires_at, zone=zone),
    )


def _origin_context(todo: Todo) -> Mapping[str, Any]:
    """The conversation and turn that the todo comes from, and the customer's name."""
    conversation = Conversation.objects.filter(pk=todo.conversation_id).first() if todo.conversation_id else None
    turn = Turn.objects.filter(pk=todo.turn_id).first() if todo.turn_id else None
    persona = todo.persona_id or (conversation.persona_id if conversation else None)
    return {
        "conversation": conversation,
        "turn": turn,
        "customer": customer_names([persona]).get(persona, UNNAMED) if persona else "",
    }
