"""Erasures that are repeated in an older copy of the database, found by the digests of ids."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from django.http import Http404
from django.utils import timezone

from conversations.models import Persona
from privacy.erasure.request import digest_of, request_erasure
from privacy.models import DeletedOrganization, Erasure, OrganizationDeletion
from privacy.organizations.deletion import digest_of as digest_of_organization
from projects.models import AuditAction, Organization, Project
from projects.records.audit import SERVER, record_change
from tenancy.scope import platform_scope, tenant_tx

BATCH = 5_000


@dataclass(frozen=True)
class Repeated:
    """The numbers of customers and organizations that are erased once more."""

    customers: int
    organizations: int


def erased_digests() -> Iterator[str]:
    """The digests of every erased customer and deleted organization of the installation. They name nobody."""
    with platform_scope():
        for digests in Erasure.objects.values_list("digests", flat=True).iterator(BATCH):
            yield from digests
        yield from DeletedOrganization.objects.using("ops").values_list("digest", flat=True).iterator(BATCH)


def repeat_erasures(digests: Collection[str]) -> Repeated:
    """Request the erasure of each customer and organization with one of these digests.

    What is erased or being erased is left alone, so a second run finds nothing more.
    """
    known = frozenset(digests)
    with platform_scope():
        every = Organization.objects.values_list("pk", flat=True)
        organizations = [pk for pk in every if digest_of_organization(pk) in known]
        rows = Persona.objects.filter(erased_at=None).values_list("organization_id", "project_id", "pk")
        personas = [row for row in rows.iterator(BATCH) if digest_of(row[2]) in known]
    erased = sum(_erase(*row) for row in personas if row[0] not in organizations)
    return Repeated(erased, sum(_delete(pk) for pk in organizations))


def _erase(organization_id: UUID, project_id: UUID, persona_id: UUID) -> bool:
    # A customer who was merged since is erased together with the other.
    with tenant_tx(organization_id), suppress(Http404):
        request_erasure(Project.objects.get(pk=project_id), persona_id, actor=SERVER)
        return True
    return False


def _delete(organization_id: UUID) -> bool:
    with tenant_tx(organization_id):
        if OrganizationDeletion.objects.exists():
            return False
        OrganizationDeletion.objects.create(due_at=timezone.now(), requested_by=SERVER)
        name = Organization.objects.get(pk=organization_id).name
        record_change(AuditAction.DELETION_REQUESTED, organization_id=organization_id, by=None, subject=name)
    return True
