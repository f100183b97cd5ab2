"""The base class of admin pages for tenant data.

config.admin opens the scope before a page runs: one organization's transaction, or all of them for platform staff.
These classes therefore do no filtering of their own; they declare which fields can be changed and which ones can filter
a list.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, ClassVar, cast

from django.contrib.admin import ModelAdmin
from django.db.models import Model, UUIDField
from django.db.models.constants import LOOKUP_SEP
from django.http import HttpRequest
from django.utils.functional import cached_property
from django.utils.text import capfirst

from projects.admin.reference import Reference
from projects.models import Member, Organization, Role, User
from projects.records.audit import Actor
from tenancy.scope import current_organization_id, is_platform

MASK = "••••"
# The lookups in the links of list filters and date hierarchies.
ASKED = {"id", "exact", "in", "isnull", "gte", "lt", "year", "month", "day"}
# Ids of members in columns that are named after what the member did.
MEMBERS = {"author_id", "actor_id", "approved_by", "created_by", "ended_by", "resolved_by", "second_by", "taken_by"}
LINK_VALUE = re.compile(r"(?!\d{5,}\Z)[^\0]{0,1000}")


class TenantAdmin(ModelAdmin):  # type: ignore[type-arg]  # Django has no such type at run time
    """Read-only rows by default. `writable` names the fields that can be changed, `addable` those of a new row.

    References are never writable: a row doesn't move to another parent. Platform staff add no rows to a tenant.
    """

    writable: ClassVar[Sequence[str]] = ()
    addable: ClassVar[Sequence[str]] = ()
    hidden: ClassVar[Sequence[str]] = ()
    shown: ClassVar[Sequence[str]] = ()
    is_deletable: ClassVar[bool] = False

    ordering = ("-id",)
    list_per_page = 50
    show_full_result_count = False

    def has_module_permission(self, request: HttpRequest) -> bool:
        return True

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return True

    def has_add_permission(self, request: HttpRequest) -> bool:
        return bool(self.addable) and not is_platform()

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return bool(self.writable)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return self.is_deletable

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> Any:
        title = capfirst(str(self.opts.verbose_name_plural))
        return super().changelist_view(request, {"title": title, **(extra_context or {})})

    def get_list_display(self, request: HttpRequest) -> Any:
        """Show names in place of ids, and the organization to platform staff."""
        return (*(self._named(name) for name in self.list_display), *self._owner())

    def get_list_select_related(self, request: HttpRequest) -> Any:
        related = self.list_select_related
        return (*(related if isinstance(related, tuple | list) else ()), *self._owner())

    def get_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        if obj is None:
            return list(self.addable)
        columns = [field.name for field in self.opts.fields if field.name not in ("organization", *self.hidden)]
        return [*self._owner(), *self.shown, *(self._named(name) for name in columns)]

    def get_readonly_fields(self, request: HttpRequest, obj: Model | None = None) -> Any:
        if obj is None:
            return []
        return [name for name in self.get_fields(request, obj) if name not in self.writable]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Return True only for lookups in the page's own links, so that hidden columns can't be guessed letter by
        letter.
        """
        field, *path = lookup.split(LOOKUP_SEP)
        filters = (getattr(one, "parameter_name", one) for one in self.list_filter)
        offered = ("id", self.date_hierarchy, *filters)
        is_asked = field in offered and set(path) <= ASKED and LINK_VALUE.fullmatch(value)
        return bool(is_asked) and super().lookup_allowed(lookup, value, request)

    def get_actions(self, request: HttpRequest) -> Any:
        """Remove bulk deletion: rows are deleted one at a time, after confirming what is deleted with them."""
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def _named(self, column: Any) -> Any:
        """The column; for the id of a row that has pages of its own, a column with that row's name."""
        return self._references.get(column, column) if isinstance(column, str) else column

    @cached_property
    def _references(self) -> dict[str, Reference]:
        ids = [field.name for field in self.opts.fields if isinstance(field, UUIDField) and not field.primary_key]
        pages = {model._meta.model_name: model for model in self.admin_site._registry}
        found = ((name, Member if name in MEMBERS else pages.get(name.removesuffix("_id"))) for name in ids)
        return {name: Reference(name, model) for name, model in found if model}

    def _owner(self) -> tuple[str, ...]:
        is_owned = any(field.name == "organization" for field in self.opts.fields)
        return ("organization",) if is_platform() and is_owned else ()


def actor_role(request: HttpRequest) -> Role:
    """The signed-in user's role in the organization; platform staff act as owners."""
    if is_platform():
        return Role.OWNER
    return Role(Member.objects.get(user_id=cast(int, request.user.pk)).role)


def own_organization() -> Organization:
    """The current organization. Raises NoTenant in the scope of platform staff."""
    return Organization.objects.get(pk=current_organization_id())


def current_user(request: HttpRequest) -> User:
    """The signed-in user."""
    return User.objects.get(pk=cast(int, request.user.pk))


def current_actor(request: HttpRequest) -> Actor:
    """The signed-in user and their role, for the audit log."""
    return Actor(current_user(request), actor_role(request))
