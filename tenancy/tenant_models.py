"""The base of every tenant's table."""

from __future__ import annotations

from typing import Any, TypeVar

from django.db import models

from tenancy.ids import uuid7
from tenancy.scope import current_organization_id, is_platform

M = TypeVar("M", bound=models.Model, covariant=True)


class TenantManager(models.Manager[M]):
    """Rows of the running transaction's organization. Raises NoTenant outside one: never "all"."""

    def get_queryset(self) -> models.QuerySet[M]:
        queryset = super().get_queryset()
        if is_platform():
            return queryset
        return queryset.filter(organization_id=current_organization_id())


class TenantForeignKey(models.ForeignKey[Any, Any]):
    """A reference inside one tenant. The database holds it as a composite key (organization_id, id), made by `tenant_table`."""

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
    """A row of which each turn writes several. Its other keys name the organization too: one for it alone, and an index for
    that, would be looked after with each row, and tell nothing more.
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
