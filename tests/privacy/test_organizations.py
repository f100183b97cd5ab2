"""Export and deletion of a whole organization."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta

import pytest
from django.utils import timezone

from conversations.models import Persona
from conversations.turns.services import post_message, start_conversation
from jobs.sweep import sweep
from privacy.models import OrganizationDeletion
from privacy.organizations import deletion
from privacy.organizations.deletion import cancel_deletion, digest_of, request_deletion
from privacy.organizations.export import begin_organization_export
from privacy.registry import TABLES
from projects.common.api_error import Conflict, Unprocessable
from projects.models import AuditAction, AuditEntry
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant
from tests.privacy.rows import MARK, fill_for_customer
from tests.processes import ForkServer, until


def rows_of(tenant: Tenant) -> dict[str, int]:
    """The number of an organization's rows by table."""
    found = {}
    for contents in TABLES:
        column = "id" if contents.table == "projects_organization" else "organization_id"
        sql = f"select count(*) from {contents.table} where {column} = %s"
        [(number,)] = bypass_rls(sql, tenant.organization.pk)
        if number:
            found[contents.table] = number
    return found


def request(tenant: Tenant, *, at_once: bool = True, typed: str = "") -> None:
    with tenant.tx():
        name = tenant.organization.name
        request_deletion(tenant.organization, by=tenant.owner, typed=typed or name, at_once=at_once)


def sweep_until_deleted(tenant: Tenant) -> None:
    for _ in range(200):
        sweep()
        if not rows_of(tenant):
            return
    raise AssertionError(rows_of(tenant))


def test_an_organization_goes_from_every_table_and_others_stay(tenant: Tenant, stranger: Tenant) -> None:
    fill_for_customer(tenant)
    theirs = rows_of(stranger)
    request(tenant)
    sweep_until_deleted(tenant)
    assert rows_of(stranger).items() >= theirs.items()
    digests = bypass_rls("select digest from privacy_deletedorganization")
    assert digests == [(digest_of(tenant.organization.pk),)]


def test_a_deletion_is_worked_through_in_small_transactions(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "SECONDS_PER_SWEEP", 0.0001)
    monkeypatch.setattr(deletion, "CONVERSATIONS", 1)
    for number in range(3):
        with tenant.tx():
            made = start_conversation(tenant.project, channel="chat", external_id=str(number), known={}, metadata={})
            post_message(made.pk, "Hello")
    request(tenant)
    counts = []
    while rows_of(tenant):
        sweep()
        counts.append(rows_of(tenant).get("conversations_conversation", 0))
    assert {3, 2, 1, 0} <= set(counts)


def test_access_ends_first(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "SECONDS_PER_SWEEP", 0.0001)
    request(tenant)
    sweep()
    assert "projects_apikey" not in rows_of(tenant)
    assert "projects_project" in rows_of(tenant)


def test_nothing_is_deleted_before_the_grace_period_ends(tenant: Tenant) -> None:
    before = rows_of(tenant)
    request(tenant, at_once=False)
    sweep()
    after = rows_of(tenant)
    assert all(after[table] >= number for table, number in before.items())
    with tenant.tx():
        due = OrganizationDeletion.objects.get().due_at
        assert timedelta(days=6) < due - timezone.now() < timedelta(days=8)


def test_a_request_is_taken_back(tenant: Tenant) -> None:
    request(tenant, at_once=False)
    with tenant.tx():
        cancel_deletion(tenant.organization, by=tenant.owner)
        assert not OrganizationDeletion.objects.exists()
        actions = set(AuditEntry.objects.values_list("action", flat=True))
        assert actions >= {AuditAction.DELETION_REQUESTED, AuditAction.DELETION_CANCELLED}


def test_a_deletion_that_has_begun_is_not_taken_back(tenant: Tenant) -> None:
    request(tenant)
    with tenant.tx(), pytest.raises(Conflict, match="nothing to take back"):
        cancel_deletion(tenant.organization, by=tenant.owner)


def test_a_wrong_name_is_refused(tenant: Tenant) -> None:
    with pytest.raises(Unprocessable, match="Type the organization’s name as it is written: Nello"):
        request(tenant, typed="nello")


def test_a_second_request_is_refused(tenant: Tenant) -> None:
    request(tenant, at_once=False)
    with pytest.raises(Conflict, match="requested already"):
        request(tenant)


@pytest.mark.short_leases
@pytest.mark.parametrize("label", ["organization.pre_commit:3", "organization.step:5"])
def test_a_deletion_survives_the_death_of_its_worker(tenant: Tenant, processes: ForkServer, label: str) -> None:
    fill_for_customer(tenant)
    doomed = processes.worker(crash_at=label)
    request(tenant)
    doomed.wait()
    assert rows_of(tenant)
    processes.worker()
    until(lambda: not rows_of(tenant), what="the end of the deletion")


def test_an_export_has_every_table_without_secrets(tenant: Tenant) -> None:
    made = fill_for_customer(tenant)
    with tenant.tx():
        export = begin_organization_export(tenant.organization, by=tenant.owner, authorize=lambda: None)
    found = zipfile.ZipFile(io.BytesIO(b"".join(export.pieces())))
    assert found.testzip() is None
    about = json.loads(found.read("organization.json"))
    assert (about["name"], about["members"][0]["email"]) == ("Nello", tenant.owner.email)
    for contents in TABLES:
        lines = [json.loads(line) for line in found.read(f"tables/{contents.table}.jsonl").splitlines()]
        assert len(lines) == about["rows"][contents.table]
        assert not any(set(contents.secret) & line.keys() for line in lines)
    [persona] = [json.loads(line) for line in found.read("tables/conversations_persona.jsonl").splitlines()]
    assert (persona["id"], persona["external_id"]) == (str(made[Persona].pk), MARK)


def test_an_export_has_nothing_of_another_organization(tenant: Tenant, stranger: Tenant) -> None:
    fill_for_customer(stranger)
    with tenant.tx():
        export = begin_organization_export(tenant.organization, by=tenant.owner, authorize=lambda: None)
    found = zipfile.ZipFile(io.BytesIO(b"".join(export.pieces())))
    assert not any(MARK.encode() in found.read(name) for name in found.namelist())


def test_a_conversation_that_is_posted_to_meanwhile_goes_as_well(tenant: Tenant, processes: ForkServer, model) -> None:
    """Its reply is under way in a worker."""
    model.latency(gap_ms=50)
    processes.worker()
    with tenant.tx():
        made = start_conversation(tenant.project, channel="chat", external_id="1", known={}, metadata={})
        post_message(made.pk, "Hello")
    request(tenant)
    until(lambda: not rows_of(tenant), what="the end of the deletion")
    assert bypass_rls("select count(*) from conversations_conversation where id = %s", made.pk) == [(0,)]
