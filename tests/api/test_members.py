"""Members in a browser: session, project and role."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from projects.models import Member, User
from projects.models.key import Scope
from tenancy.tenant_lookup import find_project
from tests.api.conftest import error_of
from tests.conftest import Tenant

pytestmark = pytest.mark.urls("tests.api.edge")
NOTES = "/api/v1/notes"


def browser_of(user: User, *, csrf: str | None = None) -> Client:
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    if csrf:
        client.cookies["csrftoken"] = csrf
        client.defaults["HTTP_X_CSRFTOKEN"] = csrf
    return client


def in_project(tenant: Tenant) -> dict[str, str]:
    return {"X-Project": tenant.project.slug}


def test_a_member_selects_the_project_by_header(tenant: Tenant) -> None:
    answer = browser_of(tenant.owner).get(NOTES, headers=in_project(tenant)).json()
    assert answer == {"project": str(tenant.project.pk), "scopes": sorted(Scope.values)}


def test_a_member_selects_the_project_by_query(tenant: Tenant) -> None:
    response = browser_of(tenant.owner).get(NOTES, {"project": tenant.project.slug})
    assert response.json()["project"] == str(tenant.project.pk)


def test_a_viewer_may_read(tenant: Tenant, viewer: User) -> None:
    assert browser_of(viewer).get(NOTES, headers=in_project(tenant)).json()["scopes"] == ["read"]


def test_a_viewer_may_not_post(tenant: Tenant, viewer: User) -> None:
    client = browser_of(viewer, csrf="a" * 32)
    response = client.post(NOTES, {"content": "a"}, content_type="application/json", headers=in_project(tenant))
    assert error_of(response, status=403)["code"] == "missing_scope"


def test_an_operator_posts_with_the_csrf_token(tenant: Tenant, operator: User) -> None:
    client = browser_of(operator, csrf="a" * 32)
    response = client.post(NOTES, {"content": "a"}, content_type="application/json", headers=in_project(tenant))
    assert response.status_code == 201


def test_a_post_without_the_csrf_token_is_refused(tenant: Tenant) -> None:
    response = browser_of(tenant.owner).post(
        NOTES, {"content": "a"}, content_type="application/json", headers=in_project(tenant)
    )
    assert error_of(response, status=403)["code"] == "csrf_failed"


def test_a_forged_form_is_refused(tenant: Tenant) -> None:
    response = browser_of(tenant.owner).post(NOTES, {"content": "a"}, headers=in_project(tenant))
    assert error_of(response, status=403)["code"] == "csrf_failed"


def test_a_project_must_be_named(tenant: Tenant) -> None:
    assert error_of(browser_of(tenant.owner).get(NOTES), status=400)["code"] == "project_required"


def test_a_non_member_gets_the_response_for_a_missing_project(tenant: Tenant, stranger: Tenant) -> None:
    browser = browser_of(stranger.owner)
    theirs = error_of(browser.get(NOTES, headers=in_project(tenant)), status=404)
    none = error_of(browser.get(NOTES, headers={"X-Project": "nothing-here"}), status=404)
    assert {**theirs, "request_id": ""} == {**none, "request_id": ""}


@pytest.mark.parametrize("slug", ["../1", "a b", "x" * 9000, "\x7f", "é"])
def test_a_malformed_slug_is_404(tenant: Tenant, slug: str) -> None:
    error_of(browser_of(tenant.owner).get(NOTES, {"project": slug}), status=404)


def test_an_inactive_user_is_not_authenticated(tenant: Tenant) -> None:
    browser = browser_of(tenant.owner)
    User.objects.filter(pk=tenant.owner.pk).update(is_active=False)
    assert error_of(browser.get(NOTES, headers=in_project(tenant)), status=401)["code"] == "not_authenticated"


def test_a_session_does_not_excuse_a_wrong_key(tenant: Tenant) -> None:
    response = browser_of(tenant.owner).get(NOTES, headers={**in_project(tenant), "Authorization": "Bearer mg_x"})
    assert error_of(response, status=401)["code"] == "invalid_api_key"


def test_a_member_removed_during_the_request_loses_access(
    tenant: Tenant, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_and_lose(**asked: Any) -> Any:
        place = find_project(**asked)
        with tenant.tx():
            Member.objects.filter(user=viewer).delete()
        return place

    monkeypatch.setattr("projects.api.authentication.find_project", find_and_lose)
    response = browser_of(viewer).get(NOTES, headers=in_project(tenant))
    assert error_of(response, status=404)["message"] == "You have no project with this name."
