"""The tenant of the running work: who it is, and the only doors to its rows (design section 4).

Three walls: a manager that raises without a tenant, composite foreign keys, and row-level security that reads
`app.organization_id`, which `tenant_tx` sets for the length of one transaction.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any
from uuid import UUID

from django.db import connections, models, transaction

from tenancy.postgresql.beginning import beginning_as

_organization: ContextVar[UUID | None] = ContextVar("organization", default=None)
_platform: ContextVar[bool] = ContextVar("platform", default=False)


class NoTenant(RuntimeError):
    """A tenant's rows were asked for outside tenant_tx; open one with the organization's id."""


class OtherTenant(RuntimeError):
    """A transaction of one tenant may not open another tenant's inside it."""


def current_organization_id() -> UUID:
    """The organization of the running transaction. Raises NoTenant outside one."""
    organization_id = _organization.get()
    if organization_id is None:
        raise NoTenant(NoTenant.__doc__)
    return organization_id


def is_platform() -> bool:
    """Whether the platform's own admin is at work, which sees every tenant through the role mg_ops."""
    return _platform.get()


@contextmanager
def tenant_tx(organization_id: UUID, *, using: str = "default", plans_once: bool = False) -> Iterator[None]:
    """One transaction of one tenant. Inside it, managers and row-level security show that tenant's rows only.

    It leaves the platform's scope, so that a service does the same for whoever calls it. Nesting the same tenant makes
    a savepoint. `plans_once`: all that is asked inside is found by keys (tenancy.postgresql.beginning). Raises OtherTenant
    when a transaction of another tenant is open.
    """
    outer = _organization.get()
    if outer is not None and outer != organization_id:
        raise OtherTenant(OtherTenant.__doc__)
    is_open = connections[using].in_atomic_block
    with ExitStack() as end:
        with beginning_as(organization_id, plans_once=plans_once):
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
    """Tell row-level security whose rows a transaction that runs already may touch; forgotten at its end."""
    with connections[using].cursor() as cursor:
        cursor.execute("select set_config('app.organization_id', %s, true)", [str(organization_id)])


@contextmanager
def template_tenant(stand_in: UUID) -> Iterator[None]:
    """Let a query be written for a tenant that doesn't exist; whoever runs it fills in the real one (tenancy.prepared_queries)."""
    token = _organization.set(stand_in)
    try:
        yield
    finally:
        _organization.reset(token)


@contextmanager
def platform_scope() -> Iterator[None]:
    """Queries inside see every tenant, through mg_ops. For the platform's own admin only."""
    token = _platform.set(True)
    try:
        yield
    finally:
        _platform.reset(token)


class Router:
    """Sends the platform admin's queries to mg_ops, and lets only mg_owner migrate."""

    def db_for_read(self, model: type[models.Model], **hints: Any) -> str | None:
        return "ops" if is_platform() else None

    db_for_write = db_for_read

    def allow_relation(self, one: models.Model, other: models.Model, **hints: Any) -> bool | None:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == "owner"
