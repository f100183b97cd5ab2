"""The privacy page: periods, the last night, erasures, and what is stored where."""

from __future__ import annotations

from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs.sweep import sweep
from privacy.models import Erasure, ErasureState, RetentionRun
from privacy.registry import TABLES
from projects.models import Organization, Role
from projects.models.attribute import Attribute
from tests.conftest import Tenant, member_of
from tests.console.pages.conftest import browser

PROMPTS = "project_attributes_setting_retention_prompts_days"


def address(tenant: Tenant) -> str:
    return reverse("agent", kwargs={"project_slug": tenant.project.slug, "section": "privacy"})


def form(tenant: Tenant, client: Client, **changed: str) -> dict[str, str]:
    """The form as a browser sends it, with some fields changed."""
    periods = client.get(address(tenant)).context["periods"]
    sent = {}
    for one in periods:
        sent |= {f"days_{one.kind}": one.days, f"shown_{one.kind}": one.days, f"was_{one.kind}": one.was}
    return {**sent, **changed}


def stored(tenant: Tenant) -> dict[str, object]:
    with tenant.tx():
        rows = Attribute.objects.filter(project=tenant.project, key__contains="retention")
        return dict(rows.values_list("key", "value"))


def test_the_defaults_are_shown_and_not_stored(tenant: Tenant) -> None:
    owner = browser(tenant.owner)
    shown = {one.kind: one.days for one in owner.get(address(tenant)).context["periods"]}
    kept = dict.fromkeys(("archive", "transcripts", "effects"), "")
    assert shown == {**kept, "events": "365", "prompts": "30", "jobs": "14"}
    owner.post(address(tenant), form(tenant, owner))
    assert stored(tenant) == {}


def test_a_period_is_saved_and_an_empty_one_keeps_the_records(tenant: Tenant) -> None:
    owner = browser(tenant.owner)
    owner.post(address(tenant), form(tenant, owner, days_prompts="7"))
    assert stored(tenant) == {PROMPTS: 7}
    owner.post(address(tenant), form(tenant, owner, days_prompts=""))
    assert stored(tenant) == {PROMPTS: "forever"}


def test_a_wrong_period_is_explained_at_its_field_and_nothing_is_saved(tenant: Tenant) -> None:
    owner = browser(tenant.owner)
    for text in ("0", "-3", "a week", "1.5"):
        response = owner.post(address(tenant), form(tenant, owner, days_prompts=text, days_events="90"))
        assert response.status_code == 422
        page = response.content.decode()
        assert "Enter 1 day or more, or leave it empty to keep these records." in page
        assert f'value="{text}"' in page
    assert stored(tenant) == {}


def test_a_colleagues_change_meanwhile_is_not_overwritten(tenant: Tenant) -> None:
    owner = browser(tenant.owner)
    mine = form(tenant, owner, days_prompts="7")
    owner.post(address(tenant), form(tenant, owner, days_prompts="60"))
    response = owner.post(address(tenant), mine)
    assert (response.status_code, stored(tenant)) == (422, {PROMPTS: 60})


def test_an_operator_sees_the_periods_and_cannot_change_them(tenant: Tenant) -> None:
    client = browser(member_of(tenant, Role.OPERATOR))
    assert "<fieldset disabled>" in client.get(address(tenant)).content.decode()
    assert client.post(address(tenant), {"days_prompts": "7"}).status_code == 403


def test_the_last_night_and_erasures_are_shown(tenant: Tenant) -> None:
    now = timezone.now()
    with tenant.tx():
        RetentionRun.objects.create(
            project=tenant.project, due_at=now, started_at=now, finished_at=now, removed={"prompts": 1234}
        )
        Erasure.objects.create(
            project=tenant.project,
            state=ErasureState.DONE,
            requested_by="Lucia",
            removed={"conversations": 3},
            left=["https://calendar.example/makegood-1.ics"],
        )
    page = browser(tenant.owner).get(address(tenant)).content.decode()
    for words in ("Prompts: 1234", "3 conversations", "Requested by Lucia", "https://calendar.example/makegood-1.ics"):
        assert words in page


def test_every_table_is_listed_under_what_is_stored_where(tenant: Tenant) -> None:
    page = browser(tenant.owner).get(reverse("stored_data", args=[tenant.project.slug])).content.decode()
    assert [contents.table for contents in TABLES if contents.table not in page] == []


def post(tenant: Tenant, view: str, /, **values: str):
    return browser(tenant.owner).post(reverse(view, args=[tenant.project.slug]), values, follow=True)


def test_an_owner_deletes_the_organization_by_typing_its_name(tenant: Tenant) -> None:
    page = post(tenant, "delete_organization", name="Nelo", when="later").content.decode()
    assert "Type the organization’s name as it is written: Nello" in page
    page = post(tenant, "delete_organization", name="Nello", when="later").content.decode()
    assert "Nello will be deleted on" in page
    page = post(tenant, "keep_organization").content.decode()
    assert "Deletion canceled." in page
    assert "will be deleted on" not in page


def test_an_owner_is_led_away_from_an_organization_deleted_at_once(tenant: Tenant) -> None:
    post(tenant, "delete_organization", name="Nello", when="now")
    for _ in range(100):
        sweep()
    with tenant.tx():
        assert not Organization.objects.exists()
    assert browser(tenant.owner).get("/", follow=True).status_code == 200
    assert browser(tenant.owner).get(address(tenant)).status_code == 404


def test_an_admin_neither_exports_nor_deletes_the_organization(tenant: Tenant) -> None:
    page = browser(member_of(tenant, Role.ADMIN)).get(address(tenant)).content.decode()
    assert "Delete the organization" not in page
    assert "Export everything" not in page
