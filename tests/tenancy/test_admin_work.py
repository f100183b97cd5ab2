"""Owners, admins and platform staff at work in the admin."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.messages import get_messages
from django.template.response import TemplateResponse
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from jobs.models import Job, ModelCall, State
from projects.models import ApiKey, Attribute, Member, Organization, Project, Role, User
from projects.models.attribute import AttributeType
from projects.records.attributes import read_secret, set_attribute
from tenancy.scope import NoTenant
from tests.conftest import Tenant, member_of
from tests.tenancy.admin_pages import address
from tests.tenancy.conftest import Filled, browser

SECRET = "sk-canary-1234567890"


def said(response: Any) -> list[str]:
    return [str(message) for message in get_messages(response.wsgi_request)]


def errors_of(response: Any) -> str:
    return str(response.context_data["adminform"].errors) if response.context_data else ""


def secret_of(tenant: Tenant) -> Attribute:
    with tenant.tx():
        set_attribute(tenant.project, "model_api_key", SECRET, type=AttributeType.SECRET)
        return Attribute.objects.get(key="model_api_key")


def role_of(tenant: Tenant, user: User) -> str | None:
    with tenant.tx():
        return Member.objects.filter(user=user).values_list("role", flat=True).first()


def membership(tenant: Tenant, user: User) -> Member:
    with tenant.tx():
        return Member.objects.get(user=user)


def add_job(tenant: Tenant, *, state: State, lane: str = "observer") -> Job:
    now = timezone.now()
    with tenant.tx():
        key = f"{lane}-{Job.objects.count()}"
        return Job.objects.create(
            project=tenant.project,
            lane=lane,
            subject_id=tenant.project.pk,
            ordinal=1,
            key=key,
            state=state,
            fair_at=now,
            run_after=now,
            created_at=now,
        )


# Secrets


def test_a_secret_is_never_shown(owner: Client, tenant: Tenant) -> None:
    row = secret_of(tenant)
    for page in (address(Attribute, "changelist"), address(Attribute, "change", row.pk)):
        text = owner.get(page).content.decode()
        assert SECRET not in text
        assert row.secret not in text
    assert "••••" in owner.get(address(Attribute, "changelist")).content.decode()


def test_an_empty_field_keeps_the_secret(owner: Client, tenant: Tenant) -> None:
    row = secret_of(tenant)
    assert owner.post(address(Attribute, "change", row.pk), {"type": "secret", "text": ""}).status_code == 302
    with tenant.tx():
        assert read_secret(tenant.project, "model_api_key") == SECRET


def test_a_new_secret_replaces_the_old_one(owner: Client, tenant: Tenant) -> None:
    row = secret_of(tenant)
    owner.post(address(Attribute, "change", row.pk), {"type": "secret", "text": "sk-new"})
    with tenant.tx():
        assert read_secret(tenant.project, "model_api_key") == "sk-new"


def test_a_new_secret_requires_a_value(owner: Client, tenant: Tenant) -> None:
    form = {"project": tenant.project.pk, "key": "k", "type": "secret", "text": ""}
    assert "Enter the secret." in errors_of(owner.post(address(Attribute, "add"), form))


def test_a_superuser_can_replace_a_secret(platform: Client, tenant: Tenant) -> None:
    row = secret_of(tenant)
    platform.post(address(Attribute, "change", row.pk), {"type": "secret", "text": "sk-new"})
    with tenant.tx():
        assert read_secret(tenant.project, "model_api_key") == "sk-new"


def test_the_digest_of_a_key_is_never_shown(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        key = ApiKey.objects.get()
    for page in (address(ApiKey, "changelist"), address(ApiKey, "change", key.pk)):
        assert key.digest not in owner.get(page).content.decode()


# Attributes


def test_an_invalid_boolean_is_rejected_with_the_valid_values(owner: Client, tenant: Tenant) -> None:
    form = {"project": tenant.project.pk, "key": "k", "type": "bool", "text": "ture"}
    assert "must be True or False" in errors_of(owner.post(address(Attribute, "add"), form))


@pytest.mark.parametrize("text", ["{", '"\\u0000"', "NaN", "[" * 100_000, ""])
def test_json_that_cannot_be_stored_is_rejected(text: str, owner: Client, tenant: Tenant) -> None:
    form = {"project": tenant.project.pk, "key": "k", "type": "json", "text": text}
    assert "valid JSON" in errors_of(owner.post(address(Attribute, "add"), form))


def test_an_attribute_may_apply_to_the_whole_organization(owner: Client, tenant: Tenant) -> None:
    owner.post(address(Attribute, "add"), {"project": "", "key": "k", "type": "bool", "text": "True"})
    with tenant.tx():
        assert Attribute.objects.get(key="k", project=None).value is True


def test_a_duplicate_attribute_is_rejected(owner: Client, tenant: Tenant) -> None:
    form = {"project": "", "key": "k", "type": "str", "text": "x"}
    owner.post(address(Attribute, "add"), form)
    assert "already exists" in errors_of(owner.post(address(Attribute, "add"), form))


# Keys


def test_a_new_key_is_shown_once_and_works(owner: Client, tenant: Tenant) -> None:
    form = {"project": tenant.project.pk, "name": "till", "scopes": ["read"]}
    response = owner.post(address(ApiKey, "add"), form)
    secret = re.search(r"mg_[0-9a-f]{8}_[\w-]{43}", said(response)[0])
    assert secret
    assert Client(headers={"Authorization": f"Bearer {secret[0]}"}).get("/api/v1/tools").status_code == 200


def test_only_owners_give_a_key_the_owners_scope(owner: Client, tenant: Tenant) -> None:
    """An admin may go on changing a key that has it."""
    with tenant.tx():
        key = ApiKey.objects.get()
    admin = browser(member_of(tenant, Role.ADMIN))
    form = {"project": tenant.project.pk, "name": "Billing", "scopes": ["read", "owner"]}
    change = address(ApiKey, "change", key.pk)
    assert "Only owners can give a key" in errors_of(admin.post(address(ApiKey, "add"), form))
    assert admin.post(change, form | {"scopes": ["owner"]}).status_code == 302
    assert admin.post(change, form | {"scopes": ["read"]}).status_code == 302
    assert "Only owners can give a key" in errors_of(admin.post(change, form))
    assert owner.post(change, form).status_code == 302
    with tenant.tx():
        assert ApiKey.objects.get(pk=key.pk).scopes == ["read", "owner"]


def test_revoked_keys_are_counted_and_stop_working(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        key = ApiKey.objects.get()
    chosen = {"action": "revoke", "_selected_action": [str(key.pk)]}
    assert "1 of 1 keys revoked" in said(owner.post(address(ApiKey, "changelist"), chosen))[0]
    assert "0 of 1 keys revoked" in said(owner.post(address(ApiKey, "changelist"), chosen))[-1]
    assert Client(headers=tenant.headers).get("/api/v1/tools").status_code == 401


def test_an_owner_cannot_remove_the_throttle_of_a_key(owner: Client, tenant: Tenant) -> None:
    form = {"project": tenant.project.pk, "name": "till", "scopes": ["read"], "throttled": ""}
    owner.post(address(ApiKey, "add"), form)
    with tenant.tx():
        assert ApiKey.objects.get(name="till").throttled


# Jobs


@pytest.mark.parametrize("who", ["owner", "platform"])
def test_run_again_requeues_and_counts_failed_jobs(who: str, request: Any, tenant: Tenant) -> None:
    client = request.getfixturevalue(who)
    jobs = [add_job(tenant, state=State.FAILED), add_job(tenant, state=State.DONE)]
    gone = add_job(tenant, state=State.FAILED, lane="gone")
    chosen = {"action": "run_again", "_selected_action": [str(job.pk) for job in (*jobs, gone)]}
    messages = said(client.post(address(Job, "changelist"), chosen))
    assert "1 of 3 jobs queued again." in messages
    assert "1 refused: Only a failed job can run again; this one is done." in messages
    assert "1 refused: No app has registered the lane 'gone'." in messages
    with tenant.tx():
        assert Job.objects.get(pk=jobs[0].pk).state == State.QUEUED


# Members


def test_an_owner_can_add_a_member_by_email(owner: Client, tenant: Tenant) -> None:
    user = User.objects.create_user("new@people.example")
    owner.post(address(Member, "add"), {"email": "New@people.example", "role": "operator"})
    assert role_of(tenant, user) == Role.OPERATOR


@pytest.mark.parametrize(
    ("email", "sentence"),
    [("nobody@people.example", "has no account"), ("owner@nello.example", "is already a member")],
)
def test_an_invalid_member_is_explained(email: str, sentence: str, owner: Client) -> None:
    response = owner.post(address(Member, "add"), {"email": email, "role": "viewer"})
    assert sentence in errors_of(response)


def test_an_admin_cannot_promote_to_owner(tenant: Tenant) -> None:
    user = member_of(tenant, Role.ADMIN)
    page = address(Member, "change", membership(tenant, user).pk)
    assert "Only an owner" in errors_of(browser(user).post(page, {"role": "owner"}))
    assert role_of(tenant, user) == Role.ADMIN


def test_an_admin_cannot_add_an_owner(tenant: Tenant) -> None:
    User.objects.create_user("new@people.example")
    client = browser(member_of(tenant, Role.ADMIN))
    response = client.post(address(Member, "add"), {"email": "new@people.example", "role": "owner"})
    assert "Only an owner" in errors_of(response)


def test_an_admin_cannot_demote_or_remove_an_owner(tenant: Tenant) -> None:
    client = browser(member_of(tenant, Role.ADMIN))
    pk = membership(tenant, tenant.owner).pk
    assert "Only an owner" in errors_of(client.post(address(Member, "change", pk), {"role": "viewer"}))
    assert client.post(address(Member, "delete", pk), {"post": "yes"}).status_code == 403
    assert role_of(tenant, tenant.owner) == Role.OWNER


def test_the_only_owner_cannot_be_demoted_or_removed(owner: Client, platform: Client, tenant: Tenant) -> None:
    pk = membership(tenant, tenant.owner).pk
    for client in (owner, platform):
        assert "only owner" in errors_of(client.post(address(Member, "change", pk), {"role": "admin"}))
        assert client.post(address(Member, "delete", pk), {"post": "yes"}).status_code == 403
    assert role_of(tenant, tenant.owner) == Role.OWNER


def test_an_owner_can_promote_another_and_leave(owner: Client, tenant: Tenant, viewer: User) -> None:
    owner.post(address(Member, "change", membership(tenant, viewer).pk), {"role": "owner"})
    pk = membership(tenant, tenant.owner).pk
    assert owner.post(address(Member, "delete", pk), {"post": "yes"}).status_code == 302
    assert role_of(tenant, tenant.owner) is None
    assert owner.get(reverse("admin:index")).status_code == 403


def test_members_cannot_become_superusers(owner: Client, tenant: Tenant) -> None:
    form = {"email": tenant.owner.email, "is_active": "on", "is_superuser": "on", "is_staff": "on"}
    owner.post(address(User, "change", tenant.owner.pk), form)
    owner.post(address(Member, "change", membership(tenant, tenant.owner).pk), {**form, "role": "owner"})
    owner.post(reverse("admin:auth_user_password_change", args=[tenant.owner.pk]), form)
    tenant.owner.refresh_from_db()
    assert not tenant.owner.is_superuser
    assert not tenant.owner.is_staff


# Projects and organizations


def test_an_owner_can_create_a_project(owner: Client, tenant: Tenant) -> None:
    owner.post(address(Project, "add"), {"name": "Bar"})
    with tenant.tx():
        project = Project.objects.select_related("agent_version").get(name="Bar")
    assert project.agent_version
    assert project.agent_version.config.business_name == tenant.organization.name


def test_a_superuser_can_create_an_organization_with_an_owner(platform: Client) -> None:
    user = User.objects.create_user("new@people.example", "correct horse battery")
    platform.post(address(Organization, "add"), {"name": "Bar", "owner": "new@people.example"})
    text = browser(user).get(address(Organization, "changelist")).content.decode()
    assert "Bar" in text
    assert '<span class="ad-where ell">Bar</span>' in text


def test_a_superuser_can_create_a_user(platform: Client) -> None:
    form = {"email": "new@people.example", "usable_password": "true", "password1": SECRET, "password2": SECRET}
    platform.post(address(User, "add"), form)
    assert User.objects.get(email="new@people.example").check_password(SECRET)


# One transaction


def test_the_page_is_rendered_inside_the_tenants_transaction(owner: Client, ours: Filled) -> None:
    """The template loads a read-only reference."""
    call = ours.rows[ModelCall]
    text = owner.get(address(ModelCall, "change", call.pk)).content.decode()
    assert str(ours.rows[Project]) in text
    with pytest.raises(NoTenant):
        ModelCall.objects.get(pk=call.pk)


def test_a_failed_page_changes_nothing(owner: Client, tenant: Tenant, monkeypatch: Any) -> None:
    def fail(*_: Any) -> None:
        raise RuntimeError("after saving")

    monkeypatch.setattr(type(admin.site._registry[Project]), "log_change", fail)
    owner.raise_request_exception = False
    assert owner.post(address(Project, "change", tenant.project.pk), {"name": "Renamed"}).status_code == 500
    with tenant.tx():
        assert Project.objects.get(pk=tenant.project.pk).name == tenant.project.name


def test_a_response_that_fails_to_render_changes_nothing(owner: Client, tenant: Tenant, monkeypatch: Any) -> None:
    """The action saves, then the template of the list fails."""

    def save_then_show(self: Any, request: Any, queryset: Any) -> Any:
        queryset.update(name="Renamed")
        return self.delete_selected_confirmation(request)

    def broken_page(self: Any, request: Any) -> Any:
        return TemplateResponse(request, "no-such-template.html")

    page = type(admin.site._registry[Project])
    monkeypatch.setattr(page, "delete_selected_confirmation", broken_page, raising=False)
    monkeypatch.setattr(page, "save_then_show", save_then_show, raising=False)
    monkeypatch.setattr(page, "actions", ("save_then_show",))
    owner.raise_request_exception = False
    chosen = {"action": "save_then_show", "_selected_action": [str(tenant.project.pk)]}
    assert owner.post(address(Project, "changelist"), chosen).status_code == 500
    with tenant.tx():
        assert Project.objects.get(pk=tenant.project.pk).name == tenant.project.name
