"""Base classes of models whose rows belong to an organization."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db import models

from tenancy.ids import uuid7
from tenancy.scope import current_organization_id, is_platform

M = TypeVar("M", bound=models.Model, covariant=True)


class TenantManager(models.Manager[M]):
    """Returns the rows of the current organization. Raises NoTenant outside a tenant's transaction.

    In the platform scope, it returns the rows of all organizations.
    """

    def get_queryset(self) -> models.QuerySet[M]:
        queryset = super().get_queryset()
        if is_platform():
            return queryset
        return queryset.filter(organization_id=current_organization_id())


class TenantForeignKey(models.ForeignKey[Any, Any]):
    """A reference within one tenant.

    The constraint is a composite key (organization_id, id), created by `tenant_table`.
    """

    def __init__(self, to: Any, on_delete: Any = models.CASCADE, **kwargs: Any) -> None:
        kwargs["db_constraint"] = False
        super().__init__(to, on_delete, **kwargs)


class TenantModel(models.Model):
    """A row that belongs to one organization."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    organization = models.ForeignKey(
        "projects.Organization",
        on_delete=models.CASCADE,
        default=current_organization_id,
        editable=False,
        related_name="+",
    )

    objects = TenantManager()

    class Meta:
        abstract = True


class DenseTenantModel(TenantModel):
    """A tenant's row that each turn writes several of.

    Its other foreign keys contain the organization too. A separate foreign key and index for it would cost time on each
    insert and add nothing.
    """

    organization = models.ForeignKey(
        "projects.Organization",
        on_delete=models.CASCADE,
        default=current_organization_id,
        editable=False,
        related_name="+",
        db_index=False,
        db_constraint=False,
    )

    class Meta:
        abstract = True
