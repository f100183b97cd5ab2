"""Permissions of each role, expressed as the scopes of API keys."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import Http404
from django.utils.translation import gettext

from projects.models import Member, Project, Role, User
from projects.models.key import Scope
from tenancy.prepared_queries import PreparedQuery
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_project

VERBS: dict[str, frozenset[str]] = {
    Role.OWNER: frozenset(Scope.values),
    Role.ADMIN: frozenset(Scope.values) - {Scope.OWNER},
    Role.OPERATOR: frozenset({Scope.READ, Scope.CONVERSE, Scope.OPERATE}),
    Role.VIEWER: frozenset({Scope.READ}),
}

# Every page runs these.
_PROJECT = PreparedQuery(
    lambda project: Project.objects.select_related("organization", "agent_version").filter(pk=project), kinds=(UUID,)
)
_MEMBER = PreparedQuery(lambda user: Member.objects.filter(user_id=user), kinds=(int,))


@dataclass(frozen=True)
class Entry:
    """A member's access to a project."""

    project: Project
    member: Member

    def may(self, verb: Scope) -> bool:
        return verb in VERBS[self.member.role]


def enter_project(user: User, slug: str, *, verb: Scope, is_developer: bool = False) -> Entry:
    """The project with this slug, and the user's membership in it. `is_developer` requires the developer tools as well.

    Raises Http404 for a stranger, PermissionDenied for a wrong role or without the developer tools.
    """
    place = find_project(user_id=user.pk, slug=slug)
    if place is None:
        raise Http404
    with tenant_tx(place.organization_id):
        projects, members = _PROJECT(place.project_id), _MEMBER(user.pk)
    # Deleted since the lookup.
    if not projects or not members:
        raise Http404
    [project], [member] = projects, members
    member.user = user
    entry = Entry(project=project, member=member)
    if not entry.may(verb):
        raise PermissionDenied(
            gettext("Your role %(role)s doesn't include %(verb)s.") % {"role": member.role, "verb": verb}
        )
    if is_developer and not member.developer_tools:
        raise PermissionDenied(gettext("Your developer tools are off."))
    return entry
