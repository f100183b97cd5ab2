"""Notes shown above a todo in the panel."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from console.timestamps import format_timestamp
from console.todos.history import history_entry
from console.todos.labels import STATUS_LABELS, sentence_start, undeliverable_warning
from projects.common.translation import lazy
from todos.approvals.validity import needs_second
from todos.content.deliverability import Undeliverable
from todos.models import Approval, Todo, TodoEvent, TodoStatus
from tools.models import EffectState

S = TodoStatus
TITLES = {
    "put_back": lazy("Returned to review."),
    "reviewed_again": lazy("Reopened for review."),
    "handed_back": lazy("Handed back for review."),
}


@dataclass(frozen=True)
class Note:
    tone: str
    icon: str
    title: str
    sentence: str


def notes_of(
    todo: Todo,
    approvals: Sequence[Approval],
    *,
    problem: str,
    reason: str,
    unsent: Sequence[Undeliverable],
    is_by_hand: bool,
    is_proposal: bool,
    differs: bool,
    tools: Iterable[str],
    zone: str,
) -> list[Note]:
    """Notes in display order.

    `problem` prevents approval; `unsent` lists undeliverable messages, which don't. `reason` explains the status. `differs`
    compares the content with the last approved or proposed one, unless this `is_proposal`. Names of `tools` are replaced by
    their titles.
    """
    if todo.status == S.PENDING_REVIEW:
        changed = [] if is_proposal else [_changed(todo, approvals, differs=differs, tools=tools, zone=zone)]
        return [*changed, *_pending(todo, approvals, problem=problem, unsent=unsent, is_by_hand=is_by_hand)]
    if todo.status == S.IN_PROGRESS and todo.taker:
        since = format_timestamp(todo.status_at, zone=zone).date
        return [
            Note(
                "act",
                "user",
                gettext("%(taker)s is doing this by hand.") % {"taker": sentence_start(todo.taker)},
                gettext("Since %(since)s.") % {"since": since},
            )
        ]
    if todo.status == S.APPROVED and is_by_hand:
        sentence = gettext("Approved, but no tool can do it. Someone has to take it.")
        return [Note("warn", "hand-grab", gettext("Unassigned."), sentence)]
    state = STATUS_LABELS[todo.status]
    return [Note(state.tone, state.icon, state.word, reason)] if reason else []


def _pending(
    todo: Todo, approvals: Sequence[Approval], *, problem: str, unsent: Sequence[Undeliverable], is_by_hand: bool
) -> list[Note]:
    notes = list[Note]()
    first_approval = next((one for one in approvals if one.version == todo.version and one.ended_at is None), None)
    if first_approval is not None and needs_second(todo):
        sentence = gettext("%(approver)s approved it. It runs once a second person approves it.") % {
            "approver": first_approval.approver
        }
        notes.append(Note("act", "users", gettext("Needs a second approval."), sentence))
    elif first_approval is not None:
        sentence = gettext(
            "%(approver)s approved it when two approvals were required. Approve it again to continue."
        ) % {"approver": first_approval.approver}
        notes.append(Note("act", "user", gettext("One approval is enough now."), sentence))
    elif not problem and needs_second(todo):
        notes.append(Note("mute", "users", gettext("Needs two approvals."), gettext("Yours would be the first.")))
    if is_by_hand:
        sentence = gettext(
            "Take it yourself, or approve it for a teammate. To let the agent do it, choose a type or a tool."
        )
        notes.append(Note("mute", "hand-grab", gettext("No tool can do this."), sentence))
    if todo.effect is not None and todo.effect.state == EffectState.DONE:
        sentence = gettext("This action already happened. Approving it has no effect.")
        notes.append(Note("ok", "check", gettext("Already done."), sentence))
    if problem:
        notes.append(Note("bad", "alert-circle", gettext("Can’t be approved yet."), problem))
    for one in unsent:
        sentence = gettext("%(reason)s If you approve it, only its other actions run.") % {"reason": one.reason}
        notes.append(Note("warn", "alert-triangle", undeliverable_warning(one.kind), sentence))
    return notes


def _changed(todo: Todo, approvals: Sequence[Approval], *, differs: bool, tools: Iterable[str], zone: str) -> Note:
    """A note on how the current version came about."""
    event = TodoEvent.objects.filter(todo=todo, version=todo.version).order_by("at", "id").first()
    by = history_entry(event, tools=tools, zone=zone).sentence if event else ""
    was_approved = any(approval.version < todo.version for approval in approvals)
    title = _title(differs=differs, was_approved=was_approved)
    if event is not None and not differs:
        title = TITLES.get(event.what, title)
    icon = "pencil" if differs else "arrow-back-up"
    needs = gettext("Version %(version)s needs approval.") % {"version": todo.version}
    return Note("warn", icon, title, f"{by} {needs}" if by else needs)


def _title(*, differs: bool, was_approved: bool) -> str:
    if differs:
        return gettext("Edited since it was approved.") if was_approved else gettext("Edited since it was proposed.")
    return gettext("Unchanged since it was approved.") if was_approved else gettext("Unchanged since it was proposed.")
