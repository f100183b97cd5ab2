"""What a page's forms do to todos: each a service, and a sentence on what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, QueryDict

from conversations.pages.todos.listing import uuid_of
from projects.api.problem import ApiError
from projects.permissions import Entry
from todos.lifecycle import Actor
from todos.models import Todo, TodoStatus
from todos.services import (
    Choice,
    approve_many,
    approve_todo,
    cancel_todo,
    reject_todo,
    review_again,
)

LONGEST_REASON = 300
# Does it, and answers with what to say of it. Raises ApiError, PermissionDenied.
Verb = Callable[[Todo, Entry, QueryDict], str]


def actor_of(entry: Entry) -> Actor:
    """The member, as the history names them."""
    return Actor(entry.member.user.name, id=entry.member.pk)


def act(request: HttpRequest, entry: Entry, todo: Todo) -> bool:
    """Do what the form of one todo asks for, and say so. False when it was refused."""
    verb = VERBS.get(request.POST.get("do", ""))
    if verb is None:
        raise Http404
    try:
        messages.success(request, verb(todo, entry, request.POST))
    except (ApiError, PermissionDenied) as error:
        messages.warning(request, str(error))
        return False
    return True


def choices_of(posted: QueryDict) -> list[Choice]:
    """The todos that were ticked, each as it was shown. Raises Http404 for what no page of ours sends."""
    return [_choice(text) for text in posted.getlist("choice")]


def approve_chosen(request: HttpRequest, entry: Entry, choices: list[Choice]) -> None:
    """Approve every one of them by itself, and say what became of them."""
    confirmed = request.POST.get("confirmed") == "yes"
    answers = approve_many(choices, actor=actor_of(entry), member=entry.member, confirmed=confirmed)
    refused = [answer for answer in answers if answer.refused]
    approved = len(answers) - len(refused)
    if approved:
        messages.success(request, f"{approved} todo{'s' if approved > 1 else ''} approved.")
    for sentence in dict.fromkeys(answer.refused for answer in refused):
        number = sum(answer.refused == sentence for answer in refused)
        messages.warning(request, f"{number} not approved: {sentence}")


def _choice(text: str) -> Choice:
    todo_id, _, rest = text.partition(":")
    version, _, content_hash = rest.partition(":")
    found = uuid_of(todo_id)
    if found is None or not _is_number(version):
        raise Http404
    return Choice(found, int(version), content_hash)


def _approve(todo: Todo, entry: Entry, posted: QueryDict) -> str:
    version = posted.get("version", "")
    if not _is_number(version):
        raise Http404
    approval = approve_todo(
        todo.pk,
        version=int(version),
        content_hash=posted.get("hash", ""),
        actor=actor_of(entry),
        member=entry.member,
    )
    if not approval.is_complete:
        return f"Version {version} is approved by you. A second person has to say yes too."
    return f"Version {version} is approved, and runs now."


def _reject(todo: Todo, entry: Entry, posted: QueryDict) -> str:
    version = posted.get("version", "")
    reason = posted.get("reason", "").strip()[:LONGEST_REASON]
    number = int(version) if _is_number(version) else None
    reject_todo(todo.pk, actor=actor_of(entry), reason=reason, version=number)
    return "Rejected. Nothing of it happens."


def _cancel(todo: Todo, entry: Entry, posted: QueryDict) -> str:
    reason = posted.get("reason", "").strip()[:LONGEST_REASON]
    cancel_todo(todo.pk, actor=actor_of(entry), reason=reason)
    if todo.status == TodoStatus.IN_PROGRESS:
        return "Cancelled. It stops before its next step; what is done stays done."
    return "Cancelled. Nothing of it happens any more."


def _review_again(todo: Todo, entry: Entry, posted: QueryDict) -> str:
    repeats = [found for text in posted.getlist("repeat") if (found := uuid_of(text))]
    review_again(todo.pk, actor=actor_of(entry), repeats=repeats)
    return "It is to be reviewed again. What was done before is not repeated, but for what you ticked."


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


VERBS: Mapping[str, Verb] = {
    "approve": _approve,
    "reject": _reject,
    "cancel": _cancel,
    "review_again": _review_again,
}
