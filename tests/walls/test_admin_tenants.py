"""The admin shows nothing of another tenant, on any page of any model (S5)."""

from __future__ import annotations

import re
import uuid
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db import models
from django.test import Client
from django.urls import reverse

from projects.models import AgentVersion, ApiKey, Attribute, Member, Organization, Project, Role, User
from projects.tenant_admin import TenantAdmin
from tests.conftest import Tenant, member_of
from tests.walls.conftest import OURS, THEIRS, Filled, browser
from tests.walls.rows import tenant_models

TOKEN = re.compile(r'csrfmiddlewaretoken" value="\w+"')
OWNED = [model for model, page in admin.site._registry.items() if isinstance(page, TenantAdmin)]
PLATFORM_ONLY = [model for model in admin.site._registry if model not in OWNED]

by_model = pytest.mark.parametrize("model", OWNED, ids=lambda model: model._meta.label)
PAGES = ("change", "history", "delete")
DELETABLE = (Attribute, Member)
ADDABLE = (Attribute, ApiKey, Member, Project)


def address(model: type[models.Model], page: str, *args: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def assert_nothing_of(other: Filled, text: str) -> None:
    ids = [str(row.pk) for row in other.rows.values() if isinstance(row.pk, uuid.UUID)]
    assert not [found for found in (THEIRS, other.tenant.project.slug, *ids) if found in text]


def test_every_tenant_model_has_its_pages() -> None:
    assert {*tenant_models(), Organization} == set(OWNED)


@by_model
def test_a_list_shows_our_rows_only(model: Any, owner: Client, ours: Filled, theirs: Filled) -> None:
    text = owner.get(address(model, "changelist")).content.decode()
    assert str(ours.rows[model].pk) in text
    assert_nothing_of(theirs, text)


@by_model
def test_the_pages_of_our_row_show_our_rows_only(model: Any, owner: Client, ours: Filled, theirs: Filled) -> None:
    for page in PAGES:
        response = owner.get(address(model, page, ours.rows[model].pk))
        assert response.status_code == (403 if page == "delete" and model not in DELETABLE else 200)
        assert_nothing_of(theirs, response.content.decode())


@by_model
def test_another_tenants_row_is_a_row_that_does_not_exist(
    model: Any, owner: Client, ours: Filled, theirs: Filled
) -> None:
    def answer(page: str, pk: object) -> tuple[int, str]:
        response = owner.get(address(model, page, pk), follow=True)
        return response.status_code, TOKEN.sub("", response.content.decode().replace(str(pk), ""))

    for page in PAGES:
        assert answer(page, theirs.rows[model].pk) == answer(page, uuid.uuid4())


@by_model
def test_no_form_offers_another_tenants_row(model: Any, owner: Client, ours: Filled, theirs: Filled) -> None:
    response = owner.get(address(model, "add"))
    assert response.status_code == (200 if model in ADDABLE else 403)
    assert_nothing_of(theirs, response.content.decode())


@by_model
def test_no_search_or_filter_finds_another_tenants_row(model: Any, owner: Client, ours: Filled, theirs: Filled) -> None:
    pk = theirs.rows[model].pk
    for query in (f"id__in={pk}", f"id__exact={pk}", f"id={pk}", f"q={THEIRS}"):
        response = owner.get(f"{address(model, 'changelist')}?{query}")
        assert response.status_code == 200
        assert list(response.context_data["cl"].result_list) == [], query


@by_model
def test_a_list_is_not_narrowed_by_a_column_that_it_does_not_offer(model: Any, owner: Client, ours: Filled) -> None:
    """Row 22: `?organization__id__exact=…`, and guessing at a hidden column."""
    columns = ("organization__id__exact=1", "project__api_keys__digest__startswith=a", "digest__startswith=a")
    ways = ("id__startswith=a", "id__regex=(", "id__exact=%00", "created_at__year=99999999999")
    for query in (*columns, *ways):
        assert owner.get(f"{address(model, 'changelist')}?{query}").status_code == 400


@by_model
def test_a_list_never_offers_to_delete_in_bulk(model: Any, owner: Client, ours: Filled) -> None:
    assert "delete_selected" not in owner.get(address(model, "changelist")).content.decode()


def test_a_bulk_action_does_nothing_to_another_tenants_key(owner: Client, ours: Filled, theirs: Filled) -> None:
    chosen = {"action": "revoke", "_selected_action": [str(theirs.rows[ApiKey].pk)]}
    owner.post(address(ApiKey, "changelist"), chosen)
    with theirs.tenant.tx():
        assert ApiKey.objects.get(pk=theirs.rows[ApiKey].pk).revoked_at is None


@pytest.mark.parametrize("model", [Attribute, ApiKey])
def test_an_edited_post_cannot_name_another_tenants_project(model: Any, owner: Client, theirs: Filled) -> None:
    """Row 22: a foreign key in a raw POST."""
    form = {"project": str(theirs.tenant.project.pk), "name": "x", "key": "x", "type": "str", "text": "x"}
    response = owner.post(address(model, "add"), {**form, "scopes": ["read"]})
    assert "Select a valid choice" in response.content.decode()
    with theirs.tenant.tx():
        assert not model.objects.filter(project=theirs.tenant.project, **{"key" if model is Attribute else "name": "x"})


def test_an_edited_post_cannot_move_a_row(owner: Client, ours: Filled, theirs: Filled) -> None:
    row = ours.rows[Attribute]
    form = {
        "type": "str",
        "text": "x",
        "project": str(theirs.tenant.project.pk),
        "organization": str(theirs.tenant.organization.pk),
    }
    owner.post(address(Attribute, "change", row.pk), form)
    with ours.tenant.tx():
        changed = Attribute.objects.get(pk=row.pk)
    assert (changed.value, changed.project_id) == ("x", row.project_id)


@by_model
def test_an_edited_post_cannot_change_another_tenants_row(model: Any, owner: Client, theirs: Filled) -> None:
    response = owner.post(address(model, "change", theirs.rows[model].pk), {"name": "x", "role": "viewer", "text": "x"})
    assert response.status_code in (302, 403)
    with theirs.tenant.tx():
        kept = model._base_manager.get(pk=theirs.rows[model].pk)
    assert model_to_text(kept) == model_to_text(theirs.rows[model])


def model_to_text(row: models.Model) -> dict[str, str]:
    dates = ("created_at", "updated_at")
    return {field.name: str(getattr(row, field.attname)) for field in row._meta.fields if field.name not in dates}


@pytest.mark.parametrize("model", PLATFORM_ONLY, ids=lambda model: model._meta.label)
def test_tables_of_everybody_are_closed_to_an_owner(model: Any, owner: Client, tenant: Tenant) -> None:
    for page in ("changelist", "add"):
        assert owner.get(address(model, page)).status_code == 403
    assert owner.get(address(model, "change", tenant.owner.pk)).status_code in (302, 403)


def test_autocomplete_offers_another_tenants_row_to_nobody(owner: Client, ours: Filled, theirs: Filled) -> None:
    found = []
    for model in tenant_models():
        for field in model._meta.fields:
            query = {"app_label": model._meta.app_label, "model_name": model._meta.model_name, "field_name": field.name}
            response = owner.get(reverse("admin:autocomplete"), query)
            if response.status_code == 200:
                found.append(field)
                assert_nothing_of(theirs, response.content.decode())
    assert found


def test_view_on_site_leads_nowhere(owner: Client, theirs: Filled) -> None:
    for content_type in range(1, 40):
        assert owner.get(f"/admin/r/{content_type}/{theirs.tenant.project.pk}/").status_code == 404


def test_the_history_of_the_front_page_is_this_organizations(tenant: Tenant, stranger: Tenant) -> None:
    """One person in two organizations: what they did in one is not told in the other."""
    with stranger.tx():
        Member.objects.create(user=tenant.owner, role=Role.OWNER)
    client = browser(tenant.owner)
    client.get(reverse("admin:enter", args=[stranger.organization.pk]))
    client.post(address(Project, "change", stranger.project.pk), {"name": THEIRS})
    assert THEIRS in client.get(reverse("admin:index")).content.decode()
    client.get(reverse("admin:enter", args=[tenant.organization.pk]))
    assert THEIRS not in client.get(reverse("admin:index")).content.decode()


def test_a_colleague_reads_the_history_of_a_row(owner: Client, tenant: Tenant) -> None:
    owner.post(address(Project, "change", tenant.project.pk), {"name": "Renamed"})
    colleague = browser(member_of(tenant, Role.ADMIN))
    assert "Changed Name" in colleague.get(address(Project, "history", tenant.project.pk)).content.decode()


def test_the_history_table_itself_keeps_tenants_apart(owner: Client, tenant: Tenant, stranger: Tenant) -> None:
    owner.post(address(Project, "change", tenant.project.pk), {"name": "Renamed"})
    with tenant.tx():
        assert LogEntry.objects.count() == 1
    with stranger.tx():
        assert LogEntry.objects.count() == 0
    assert LogEntry.objects.count() == 0


def test_the_platform_sees_every_tenant(platform: Client, ours: Filled, theirs: Filled) -> None:
    text = platform.get(address(AgentVersion, "changelist")).content.decode()
    assert OURS in text
    assert THEIRS in text


@by_model
def test_the_platform_reads_every_page(model: Any, platform: Client, theirs: Filled) -> None:
    for page in PAGES:
        expected = 403 if page == "delete" and model not in DELETABLE else 200
        assert platform.get(address(model, page, theirs.rows[model].pk)).status_code == expected


def test_strangers_operators_and_viewers_stay_outside(tenant: Tenant, operator: User, viewer: User) -> None:
    nobody = User.objects.create_user("nobody@people.example", "correct horse battery")
    for user in (operator, viewer, nobody):
        assert browser(user).get(reverse("admin:index")).status_code == 403


def test_the_admin_has_no_door_of_its_own(database: None) -> None:
    response = Client().get("/admin/projects/project/", follow=True)
    assert response.request["PATH_INFO"] == reverse("account_login")


def test_nobody_enters_an_organization_that_they_do_not_administer(owner: Client, stranger: Tenant) -> None:
    assert owner.get(reverse("admin:enter", args=[stranger.organization.pk])).status_code == 404


def test_a_viewer_elsewhere_is_still_an_owner_here(tenant: Tenant, stranger: Tenant) -> None:
    """Looking for the organization opens each one's transaction; the page then runs in one only."""
    with stranger.tx():
        Member.objects.create(user=tenant.owner, role=Role.VIEWER)
    with tenant.tx():
        Member.objects.filter(user=tenant.owner).delete()
        Member.objects.create(user=tenant.owner, role=Role.OWNER)
    response = browser(tenant.owner).get(address(Project, "changelist"))
    assert tenant.project.slug in response.content.decode()
