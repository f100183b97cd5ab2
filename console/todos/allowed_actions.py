"""Actions offered on a todo to the current member. The services check permissions again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from projects.common.translation import lazy
from projects.models.key import Scope
from projects.models.permissions import Entry
from todos.approvals.manual_completion import NOT_SETTLED, TAKEABLE
from todos.approvals.validity import may_approve, needs_second
from todos.content.deliverability import MissingContact, Undeliverable
from todos.content.lifecycle import TRANSITIONS
from todos.models import Approval, Todo, TodoStatus
from tools.models import Effect

S = TodoStatus


@dataclass(frozen=True)
class SuggestedFix:
    """A fix for a todo with an undeliverable message. `field` is the anchor on the edit page."""

    words: str
    icon: str
    field: str


FIXES: Mapping[MissingContact, SuggestedFix] = {
    MissingContact.ADDRESSES: SuggestedFix(lazy("Add recipients"), "mail", "recipients"),
    MissingContact.CUSTOMER: SuggestedFix(lazy("Choose a customer"), "user", "persona"),
    MissingContact.EMAIL: SuggestedFix(lazy("Add e-mail address"), "mail", "contact-email"),
    MissingContact.PHONE: SuggestedFix(lazy("Add phone number"), "phone", "contact-phone"),
    MissingContact.OTHER_PHONE: SuggestedFix(lazy("Change phone number"), "phone", "contact-phone"),
    MissingContact.CONSENT: SuggestedFix(lazy("Choose another tool"), "tool", "tool"),
}


@dataclass(frozen=True)
class AllowedActions:
    """`fix` is set if a message is undeliverable. `take` and `finish` are for manual work."""

    approve: bool
    edit: bool
    fix: SuggestedFix | None
    reject: bool
    cancel: bool
    take: bool
    finish: bool
    review_again: bool
    allow_always: bool
    end_rule: bool


def allowed_actions(
    todo: Todo,
    entry: Entry,
    approval: Approval | None,
    *,
    problem: str,
    unsent: Sequence[Undeliverable],
    effects: Iterable[Effect],
) -> AllowedActions:
    """Actions the member may take. `approval` is the valid one, if any; a non-empty `problem` prevents approval."""
    status, operates = TodoStatus(todo.status), entry.may(Scope.OPERATE)
    is_pending, is_taken = status == S.PENDING_REVIEW, status == S.IN_PROGRESS and bool(todo.taker)
    may_agree = is_pending and may_approve(todo, entry.member.role)
    is_first = approval is not None and approval.approved_by == entry.member.pk
    is_settled = not any(effect.state in NOT_SETTLED for effect in effects)
    has_agreed = may_agree and (not needs_second(todo) or (approval is not None and not is_first))
    return AllowedActions(
        approve=may_agree and not problem and not (is_first and needs_second(todo)),
        edit=operates and status in (S.PENDING_REVIEW, S.APPROVED),
        fix=FIXES[unsent[0].missing] if unsent and operates and is_pending else None,
        reject=operates and is_pending,
        cancel=operates and not is_pending and S.CANCELLED in TRANSITIONS[status],
        take=operates and is_settled and status in TAKEABLE and (not is_pending or has_agreed),
        finish=operates and is_taken,
        review_again=operates and (status in (S.FAILED, S.NEEDS_ATTENTION) or is_taken),
        allow_always=entry.may(Scope.CONFIGURE) and bool(todo.tool) and not needs_second(todo),
        end_rule=entry.may(Scope.CONFIGURE),
    )
