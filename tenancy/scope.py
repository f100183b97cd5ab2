"""The current tenant, and the transactions that give access to its rows.

`tenant_tx` opens a transaction for one organization. Inside it, managers filter by that organization, and row-level
security compares with `app.organization_id`, which is set until the transaction ends.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from django.db import connections, models, transaction

from telemetry.place import note_tenant
from tenancy.postgresql.transaction_begin import begin_as

_organization: ContextVar[UUID | None] = ContextVar("organization", default=None)
_platform: ContextVar[bool] = ContextVar("platform", default=False)


class NoTenant(RuntimeError):
    """A tenant's rows were accessed outside tenant_tx. Open one with the organization's id."""


class OtherTenant(RuntimeError):
    """A transaction of one tenant can't be opened inside another tenant's."""


def current_organization_id() -> UUID:
    """The organization of the running transaction. Raises NoTenant outside one."""
    organization_id = _organization.get()
    if organization_id is None:
        raise NoTenant(NoTenant.__doc__)
    return organization_id


def is_platform() -> bool:
    """True inside `platform_scope`, where superusers see every tenant through the role mg_ops."""
    return _platform.get()


@contextmanager
def tenant_tx(organization_id: UUID, *, using: str = "default", plans_once: bool = False) -> Iterator[None]:
    """Open a transaction for one tenant. Managers and row-level security show only that tenant's rows.

    Nesting the same tenant creates a savepoint. Raises OtherTenant if a transaction of another tenant is open. Leaves
    the platform scope, so that a service behaves the same for every caller. Set `plans_once` if every statement inside
    finds its rows by keys (see `tenancy.postgresql.transaction_begin`).
    """
    outer = _organization.get()
    if outer is not None and outer != organization_id:
        raise OtherTenant(OtherTenant.__doc__)
    note_tenant(organization_id)
    is_open = connections[using].in_atomic_block
    with ExitStack() as end:
        with begin_as(organization_id, plans_once=plans_once):
            end.enter_context(transaction.atomic(using=using))
        if is_open and outer is None:
            _set_organization(organization_id, using=using)
        tenant, platform = _organization.set(organization_id), _platform.set(False)
        try:
            yield
        finally:
            _platform.reset(platform)
            _organization.reset(tenant)


def _set_organization(organization_id: UUID, *, using: str) -> None:
    """Set the tenant of a running transaction for row-level security. The setting ends with the transaction."""
    with connections[using].cursor() as cursor:
        cursor.execute("select set_config('app.organization_id', %s, true)", [str(organization_id)])


@contextmanager
def template_tenant(stand_in: UUID) -> Iterator[None]:
    """Build queries with a placeholder for the organization, which `tenancy.prepared_queries` replaces in each run."""
    token = _organization.set(stand_in)
    try:
        yield
    finally:
        _organization.reset(token)


@contextmanager
def platform_scope() -> Iterator[None]:
    """Queries inside see every tenant, through mg_ops. Only for superusers in the admin."""
    token = _platform.set(True)
    try:
        yield
    finally:
        _platform.reset(token)


class Router:
    """Sends queries in the platform scope to mg_ops. Only mg_owner migrates."""

    def db_for_read(self, model: type[models.Model], **hints: Any) -> str | None:
        return "ops" if is_platform() else None

    db_for_write = db_for_read

    def allow_relation(self, one: models.Model, other: models.Model, **hints: Any) -> bool | None:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == "owner"
