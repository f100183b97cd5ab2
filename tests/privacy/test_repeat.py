"""Erasures repeated in a restored backup, by the command."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from conversations.models import Persona
from privacy.models import OrganizationDeletion
from privacy.organizations.deletion import digest_of
from tests.conftest import Tenant
from tests.privacy.conftest import erase, run_erasures


def erasures(**options: Any) -> str:
    out = StringIO()
    call_command("erasures", stdout=out, **options)
    return out.getvalue()


def create(tenant: Tenant, external_id: str, **fields: Any) -> Persona:
    with tenant.tx():
        return Persona.objects.create(project=tenant.project, external_id=external_id, **fields)


def external_ids(tenant: Tenant) -> list[str]:
    with tenant.tx():
        return list(Persona.objects.values_list("external_id", flat=True))


def test_an_erased_customer_is_erased_again(tenant: Tenant, stranger: Tenant, tmp_path: Path) -> None:
    gone = create(tenant, "gone")
    create(tenant, "stays")
    create(stranger, "gone")
    erase(tenant, gone.pk)
    (tmp_path / "erasures").write_text(erasures())
    create(tenant, "gone", pk=gone.pk)
    assert "1 customers and 0 organizations" in erasures(repeat=(tmp_path / "erasures").open())
    run_erasures()
    assert external_ids(tenant) == ["stays"]
    assert external_ids(stranger) == ["gone"]
    assert "0 customers and 0 organizations" in erasures(repeat=(tmp_path / "erasures").open())


def test_a_deleted_organization_is_deleted_again(tenant: Tenant, stranger: Tenant, tmp_path: Path) -> None:
    (tmp_path / "erasures").write_text(f"{digest_of(tenant.organization.pk)}\n")
    assert "0 customers and 1 organizations" in erasures(repeat=(tmp_path / "erasures").open())
    assert "0 customers and 0 organizations" in erasures(repeat=(tmp_path / "erasures").open())
    with tenant.tx():
        assert OrganizationDeletion.objects.get().due_at <= timezone.now()
    with stranger.tx():
        assert not OrganizationDeletion.objects.exists()


def test_a_line_that_is_no_digest_is_refused(tmp_path: Path) -> None:
    (tmp_path / "erasures").write_text("guest-7731\n")
    with pytest.raises(CommandError, match="Line 1"):
        erasures(repeat=(tmp_path / "erasures").open())
