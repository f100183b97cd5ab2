"""Actions posted by the todo pages. Each calls a service and returns a message for the user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, QueryDict
from django.utils.translation import gettext, ngettext

from console.parameters import parse_uuid
from console.todos.labels import approved_undeliverable, with_tool_titles
from console.undo import announce_undoable
from projects.common.api_error import ApiError
from projects.models.key import Scope
from projects.models.permissions import Entry
from todos.approvals.manual_completion import complete_todo, fail_todo, take_todo
from todos.approvals.standing_rules import end_rule
from todos.content.lifecycle import Actor
from todos.content.snapshot import recipients_of, tools_of
from todos.models import Todo, TodoStatus
from todos.services import (
    Choice,
    approve_many,
    approve_todo,
    cancel_todo,
    edit_todo,
    reject_many,
    reject_todo,
    review_again,
)

LONGEST_REASON = 300
# After one of these the next pending todo is shown, so that todos can be reviewed in sequence.
DECISIONS = ("approve", "reject")
# Performs the action and returns the success message. Raises ApiError and PermissionDenied.
Verb = Callable[[Todo, Entry, QueryDict], str]


def actor_of(entry: Entry) -> Actor:
    """The member as recorded in the history."""
    return Actor(entry.member.user.name, id=entry.member.pk)


def act(request: HttpRequest, entry: Entry, todo: Todo) -> bool:
    """Perform the posted action and add a message. Return True if the todo was approved or rejected.

    Raises Http404 for an unknown action.
    """
    action = request.POST.get("do", "")
    verb = VERBS.get(action)
    if verb is None:
        raise Http404
    try:
        with transaction.atomic():
            words = verb(todo, entry, request.POST)
    except (ApiError, PermissionDenied) as error:
        messages.error(request, with_tool_titles(str(error), tools_of(todo)))
        return False
    # An effect that a rejection cancels is not planned again.
    if action == "reject" and todo.effect_id is None:
        announce_undoable(request, entry, words, kind="todo", todo=str(todo.pk))
    else:
        messages.success(request, words)
    return action in DECISIONS


def parse_choices(posted: QueryDict) -> list[Choice]:
    """The selected todos, each with the version and content hash that was shown. Raises Http404 for malformed values."""
    return [_choice(text) for text in posted.getlist("choice")]


def approve_chosen(request: HttpRequest, entry: Entry, choices: list[Choice]) -> None:
    """Approve each todo separately and add messages that summarize the results."""
    confirmed = request.POST.get("confirmed") == "yes"
    answers = approve_many(choices, actor=actor_of(entry), member=entry.member, confirmed=confirmed)
    refused = [answer for answer in answers if answer.refused]
    approved = len(answers) - len(refused)
    if approved:
        words = ngettext("%(number)s todo approved.", "%(number)s todos approved.", approved)
        messages.success(request, words % {"number": approved})
    for sentence, number in Counter(answer.refused for answer in refused).items():
        messages.error(
            request, gettext("%(number)s not approved: %(sentence)s") % {"number": number, "sentence": sentence}
        )
    unsent = Counter(one for answer in answers for one in answer.unsent)
    for one, number in unsent.items():
        messages.warning(request, " ".join((approved_undeliverable(one.kind, number), one.reason)))


def reject_chosen(request: HttpRequest, entry: Entry, choices: list[Choice]) -> None:
    """Reject each todo separately, and add messages that summarize the results. Rejections without an effect can be
    undone.
    """
    reason = _reason(request.POST)
    answers = reject_many(choices, actor=actor_of(entry), reason=reason)
    rejected = [answer.todo for answer in answers if answer.todo is not None]
    if rejected:
        words = ngettext("%(number)s todo rejected.", "%(number)s todos rejected.", len(rejected))
        words %= {"number": len(rejected)}
        undoable = [str(todo.pk) for todo in rejected if todo.effect_id is None]
        if undoable:
            announce_undoable(request, entry, words, kind="todos", todos=undoable)
        else:
            messages.success(request, words)
    for sentence, number in Counter(answer.refused for answer in answers if answer.refused).items():
        messages.error(
            request, gettext("%(number)s not rejected: %(sentence)s") % {"number": number, "sentence": sentence}
        )


def _choice(text: str) -> Choice:
    todo_id, _, rest = text.partition(":")
    version, _, content_hash = rest.partition(":")
    found = parse_uuid(todo_id)
    if found is None or not _is_number(version):
        raise Http404
    return Choice(found, int(version), content_hash)


def _approve(todo: Todo, entry: Entry, posted: QueryDict) -> str:
    version = _version(posted)
    approval = approve_todo(
        todo.pk, version=version, content_hash=posted.get("hash", ""), actor=actor_of(entry), member=entry.member
    )
    if not approval.is_complete:
        return gettext("Approved. It needs a second approval.")
    if todo.status == TodoStatus.COMPLETED:
        return TodoStatus.COMPLETED.sentence
    if approval.is_by_hand:
        return gettext("Approved, but unassigned.")
    return gettext("Approved. Running now.")


def _take(todo: Todo, entry: Entry, posted: QueryDict) -> str:
    take_todo(
        todo.pk,
        version=_version(posted),
        content_hash=posted.get("hash", ""),
        actor=actor_of(entry),
        member=entry.member,
    )
    return gettext("Assigned to you. Mark it as done or failed when you’re finished.")


def _complete(todo: Todo, entry: Entry, posted: QueryDict) -> str:
    complete_todo(todo.pk, actor=actor_of(entry), note=_reason(posted))
    return gettext("Marked as done.")


def _fail(todo: Todo, entry: Entry, posted: QueryDict) -> str:
    reason = _reason(posted)
    if not reason:
        raise ApiError("required", gettext("Enter a reason."), field="reason")
    fail_todo(todo.pk, actor=actor_of(entry), reason=reason)
    is_promised = todo.promise_id is not None or todo.effect_id is not None
    if is_promised:
        return gettext("Marked as failed. Its promise is now broken.")
    return gettext("Marked as failed.")


def _add_recipient(todo: Todo, entry: Entry, posted: QueryDict) -> str:
    """Allow one more recipient, as a new version."""
    address = posted.get("address", "")
    edit_todo(todo.pk, {"recipients": [*recipients_of(todo), address]}, actor=actor_of(entry), version=_version(posted))
    return gettext("Added %(address)s. Approve the new version.") % {"address": address}


def _end_rule(todo: Todo, entry: Entry, posted: QueryDict) -> str:
    """End the rule that approved this todo. Todos it approved that haven't started go back to review."""
    rule = parse_uuid(posted.get("rule", ""))
    if rule is None or not todo.approvals.filter(rule=rule).exists():
        raise Http404
    if not entry.may(Scope.CONFIGURE):
        raise PermissionDenied(gettext("Only owners and admins can end rules."))
    end_rule(entry.project, rule, by=entry.member.pk)
    return gettext("Rule ended. These todos need approval again.")


def _reject(todo: Todo, entry: Entry, posted: QueryDict) -> str:
    version = posted.get("version", "")
    number = int(version) if _is_number(version) else None
    reject_todo(todo.pk, actor=actor_of(entry), reason=_reason(posted), version=number)
    return gettext("Rejected.")


def _cancel(todo: Todo, entry: Entry, posted: QueryDict) -> str:
    cancel_todo(todo.pk, actor=actor_of(entry), reason=_reason(posted))
    if todo.status == TodoStatus.IN_PROGRESS and not todo.taker:
        return gettext("Canceled. It stops before the next step. Completed steps aren’t undone.")
    return gettext("Canceled.")


def _review_again(todo: Todo, entry: Entry, posted: QueryDict) -> str:
    repeats = [found for text in posted.getlist("repeat") if (found := parse_uuid(text))]
    review_again(todo.pk, actor=actor_of(entry), repeats=repeats)
    if todo.taker and todo.status == TodoStatus.IN_PROGRESS:
        return gettext("Handed back. It needs approval again.")
    return (
        gettext("Back in review. Only what you selected is repeated.")
        if repeats
        else gettext("Back in review. Nothing is repeated.")
    )


def _version(posted: QueryDict) -> int:
    """The version that was shown. Raises Http404 for a malformed number."""
    version = posted.get("version", "")
    if not _is_number(version):
        raise Http404
    return int(version)


def _reason(posted: QueryDict) -> str:
    return posted.get("reason", "").strip()[:LONGEST_REASON]


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


VERBS: Mapping[str, Verb] = {
    "approve": _approve,
    "reject": _reject,
    "cancel": _cancel,
    "take": _take,
    "complete": _complete,
    "fail": _fail,
    "review_again": _review_again,
    "add_recipient": _add_recipient,
    "end_rule": _end_rule,
}
