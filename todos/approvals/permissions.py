"""Permission to approve, and the need for a second approver. Evaluated anew on every use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.utils.translation import gettext

from projects.common.translation import lazy
from projects.models import ApiKey, Member, Role
from projects.models.key import Scope
from projects.models.permissions import VERBS
from tenancy.prepared_queries import PreparedQuery
from todos.content.lifecycle import Actor
from todos.models import Approval, SecondApprover, StandingRule, Todo

RANKS = (Role.VIEWER, Role.OPERATOR, Role.ADMIN, Role.OWNER)
# The scope that gives an API key the rank of a role. No scope gives the rank of an owner.
SCOPES: Mapping[str, Scope] = {Role.OPERATOR: Scope.OPERATE, Role.ADMIN: Scope.CONFIGURE}
# Members with a closed account keep their membership, but can't approve.
MEMBERS = PreparedQuery(lambda member: Member.objects.filter(pk=member, user__is_active=True), kinds=(UUID,))
TWO_PEOPLE = lazy("Two people must approve this. An API key doesn’t count.")


@dataclass(frozen=True)
class Approver:
    """The giver of an approval: a member, an API key or a standing rule. With `by_hand`, they do the todo by hand."""

    actor: Actor
    member: Member | None = None
    key: ApiKey | None = None
    rule: StandingRule | None = None
    by_hand: bool = False

    @property
    def id(self) -> UUID | None:
        """The id of the member or the key."""
        giver = self.member or self.key
        return giver.pk if giver else None


def required_role(todo: Todo) -> Role:
    """The lowest role that may approve the todo."""
    return Role(todo.type.approver_role) if todo.type else Role.OPERATOR


def may_approve(todo: Todo, role: str) -> bool:
    """True if a member with this role may approve the todo."""
    return Scope.OPERATE in VERBS[role] and RANKS.index(Role(role)) >= RANKS.index(required_role(todo))


def key_may_approve(todo: Todo, key: ApiKey) -> bool:
    """True if the API key may approve the todo now."""
    scope = SCOPES.get(required_role(todo))
    return key.is_usable and Scope.OPERATE in key.scopes and scope in key.scopes and not needs_second(todo)


def require_permission(todo: Todo, approver: Approver) -> None:
    """Raise PermissionDenied, with the reason, unless the member or key may approve the todo."""
    if approver.member is not None and not may_approve(todo, approver.member.role):
        raise PermissionDenied(
            gettext("This requires approval by %(required_role)s.") % {"required_role": _at_least(required_role(todo))}
        )
    if approver.key is not None and not key_may_approve(todo, approver.key):
        raise PermissionDenied(
            TWO_PEOPLE
            if needs_second(todo)
            else gettext("This requires approval by %(todo)s.") % {"todo": _required_person(todo)}
        )


def member_may_approve(todo: Todo, member_id: UUID | None) -> bool:
    """True if this is still a member who may approve the todo."""
    return any(may_approve(todo, member.role) for member in MEMBERS(member_id)) if member_id else False


def lost_permission(todo: Todo, approval: Approval) -> str:
    """The reason why the givers of a complete approval may no longer approve, as a sentence; empty while they may."""
    if approval.rule is not None:
        return (
            "" if rule_may_approve(approval.rule, todo) else gettext("The rule that approved this is no longer valid.")
        )
    if approval.key_id is not None:
        key = ApiKey.objects.filter(pk=approval.key_id).first()
        return (
            ""
            if key and key_may_approve(todo, key)
            else gettext("%(approver)s may no longer approve this.") % {"approver": approval.approver}
        )
    if not member_may_approve(todo, approval.approved_by):
        return gettext("%(approver)s may no longer approve this.") % {"approver": approval.approver}
    if approval.second_by is not None and not member_may_approve(todo, approval.second_by):
        return gettext("%(second_approver)s may no longer approve this.") % {
            "second_approver": approval.second_approver
        }
    return ""


def rule_may_approve(rule: StandingRule, todo: Todo) -> bool:
    """True if the rule may approve the todo: it hasn't ended, its creator may still create it, and one approval is
    enough.
    """
    if rule.ended_at is not None or needs_second(todo):
        return False
    if (member := next(iter(MEMBERS(rule.created_by)), None)) is not None:
        return Scope.CONFIGURE in VERBS[member.role] and may_approve(todo, member.role)
    key = ApiKey.objects.filter(pk=rule.created_by).first()
    return key is not None and Scope.CONFIGURE in key.scopes and key_may_approve(todo, key)


def needs_second(todo: Todo) -> bool:
    """True if two people have to approve. Values that can't be compared count as above the limit; of several, the
    largest counts.
    """
    todo_type = todo.type
    if todo_type is None or todo_type.second_approver == SecondApprover.NEVER:
        return False
    if todo_type.second_approver == SecondApprover.ALWAYS or todo_type.limit_value is None:
        return True
    amounts = [_as_number(value) for value in _values_at(todo.arguments or {}, todo_type.limit_argument)]
    # Negative amounts count by their absolute value.
    return not amounts or any(amount is None or amount.copy_abs() > todo_type.limit_value for amount in amounts)


def _values_at(arguments: Mapping[str, Any], path: str) -> list[Any]:
    """The values at a dotted path. A plain name is also looked up in each object among the arguments."""
    if "." not in path:
        objects = [arguments, *(part for part in arguments.values() if isinstance(part, Mapping))]
        return [source[path] for source in objects if path in source]
    value: Any = arguments
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return [value]


def _as_number(value: Any) -> Decimal | None:
    """The value as a number, also from a string; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = Decimal(str(value).strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def _at_least(role: Role) -> str:
    return {
        Role.OPERATOR: gettext("at least an operator"),
        Role.ADMIN: gettext("at least an admin"),
        Role.OWNER: gettext("an owner"),
    }[role]


def _required_person(todo: Todo) -> str:
    return gettext("%(required_role)s; this key's scopes don't allow it") % {
        "required_role": _at_least(required_role(todo))
    }
