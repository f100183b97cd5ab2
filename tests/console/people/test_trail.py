"""The audit log: every change leaves an immutable entry."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import ProgrammingError
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import override

from console.people.audit_labels import list_changes, subject_of
from console.people.audit_log import SENTENCES
from projects.agents.services import create_key, revoke_key
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source, disconnect_source
from projects.models import ApiKey, AuditAction, AuditEntry, Member, Role, User
from projects.models.key import Scope
from projects.records.audit import record_change
from tests.conftest import PASSWORD, Tenant
from tests.console.people.conftest import browser, invite, link_in, page_of
from tests.console.people.soft_key import SoftKey
from tests.console.people.test_members import change, membership, remove
from tests.console.people.test_passkeys import add, passkeys
from tests.console.people.test_passkeys import sure as has_shown_who
from tests.console.people.test_second_factor import recovery_codes, turn_on

LENA = "lena@example.com"
TEXTS = {"account_sid": "AC" + "0" * 32, "sender": "+15005550006"}
MAIL = {"host": "smtp.example.com", "from_address": "hello@nello.example"}


def entries(tenant: Tenant) -> list[AuditEntry]:
    """Entries, oldest first, without those of the fixtures."""
    with tenant.tx():
        return list(AuditEntry.objects.exclude(actor_id=None).order_by("id"))


def last(tenant: Tenant) -> tuple[str, str, str, dict[str, Any], dict[str, Any]]:
    one = entries(tenant)[-1]
    return one.action, one.actor, one.subject, one.before, one.after


def test_invitations_and_revocations_are_logged(owner: Client, tenant: Tenant) -> None:
    invite(owner, tenant, LENA, Role.VIEWER)
    assert last(tenant) == (AuditAction.INVITED, tenant.owner.email, LENA, {}, {"role": "viewer"})
    page = owner.get(page_of(tenant, "members")).content.decode()
    revoke = next(part.split('"')[0] for part in page.split('action="') if "/revoke" in part.split('"')[0])
    owner.post(revoke)
    assert last(tenant) == (AuditAction.UNINVITED, tenant.owner.email, LENA, {"role": "viewer"}, {})


def test_joining_is_logged_without_the_token(owner: Client, tenant: Tenant) -> None:
    link = link_in(invite(owner, tenant, LENA))
    visitor = Client()
    visitor.get(link)
    visitor.post(reverse("join"), {"name": "Lena Berg", "password": PASSWORD})
    subject = f"Lena Berg ({LENA})"
    assert last(tenant) == (AuditAction.JOINED, subject, subject, {}, {"role": "operator"})
    assert link.rsplit("/", 1)[1] not in str([vars(one) for one in entries(tenant)])


def test_a_role_change_logs_both_roles(owner: Client, tenant: Tenant, viewer: User) -> None:
    change(owner, tenant, viewer, Role.ADMIN)
    assert last(tenant)[0] == AuditAction.ROLE_CHANGED
    assert last(tenant)[2:] == (viewer.email, {"role": "viewer"}, {"role": "admin"})
    change(owner, tenant, viewer, Role.ADMIN)
    assert len(entries(tenant)) == 1


def test_removal_and_leaving_are_logged_differently(owner: Client, tenant: Tenant, viewer: User, admin: User) -> None:
    remove(owner, tenant, viewer)
    assert last(tenant)[:3] == (AuditAction.REMOVED, tenant.owner.email, viewer.email)
    remove(browser(admin), tenant, admin)
    assert last(tenant)[:3] == (AuditAction.LEFT, admin.email, admin.email)


def test_refused_changes_are_not_logged(owner: Client, tenant: Tenant) -> None:
    change(owner, tenant, tenant.owner, Role.VIEWER)
    assert entries(tenant) == []


def test_a_key_is_logged_by_its_prefix(owner: Client, tenant: Tenant) -> None:
    made = owner.post(page_of(tenant, "api_keys"), {"name": "Till", "scopes": ["read"], "lifetime": ""}, follow=True)
    with tenant.tx():
        key = ApiKey.objects.get(name="Till")
        revoke_key(key, by=tenant.owner)
        revoke_key(key, by=tenant.owner)
    first, second = entries(tenant)
    assert (first.action, first.subject) == (AuditAction.KEY_MADE, f"Till ({key.prefix}…)")
    assert first.after == {"name": "Till", "scopes": ["read"], "expires": "never"}
    assert (second.action, second.before, second.after) == (AuditAction.KEY_REVOKED, first.after, {})
    assert str(vars(first)).count("mg_") == 1
    assert key.prefix in made.content.decode()


def test_revoking_a_key_is_logged(tenant: Tenant) -> None:
    ends = timezone.now() + timedelta(days=30)
    with tenant.tx():
        create_key(tenant.project, name="Till", scopes=[Scope.READ], created_by=tenant.owner, expires_at=ends)
    assert entries(tenant)[-1].after["expires"] == ends.isoformat()


@pytest.mark.parametrize(("writer", "reader"), [("de", "en"), ("en", "it")])
def test_integrations_are_named_in_the_readers_language(tenant: Tenant, writer: str, reader: str) -> None:
    with tenant.tx(), override(writer):
        connect_source(tenant.project, KINDS["twilio"], SourceEdit(TEXTS, "t" * 32), by=tenant.owner)
    [entry] = entries(tenant)
    with override(reader):
        assert subject_of(entry) == str(KINDS["twilio"].title)
    assert entry.subject == "twilio"


def test_an_earlier_entry_of_an_integration_stays_as_it_is(tenant: Tenant) -> None:
    with tenant.tx():
        assert subject_of(AuditEntry(action=AuditAction.CONNECTED, subject="SMS (Twilio)")) == "SMS (Twilio)"


def test_integrations_are_logged_without_secrets(tenant: Tenant) -> None:
    with tenant.tx():
        connect_source(tenant.project, KINDS["smtp"], SourceEdit(MAIL, "canary-secret"), by=tenant.owner)
        edit = SourceEdit({**MAIL, "from_name": "Nello"}, "canary-other")
        connect_source(tenant.project, KINDS["smtp"], edit, by=tenant.owner)
        disconnect_source(tenant.project, KINDS["smtp"], by=tenant.owner)
    found = entries(tenant)
    assert [one.action for one in found] == ["integration.connected", "integration.changed", "integration.disconnected"]
    assert (found[1].before["from_name"], found[1].after["from_name"]) == ("", "Nello")
    assert [one.after.get(KINDS["smtp"].credential) for one in found] == [None, "a new one", None]
    assert "canary" not in str([vars(one) for one in found])


def ways(tenant: Tenant) -> list[tuple[str, str]]:
    return [(one.action, one.subject) for one in entries(tenant) if one.action.startswith("factor.")]


def test_passkeys_are_logged_by_name(tenant: Tenant) -> None:
    """Renaming to the same name is not logged."""
    client = has_shown_who(tenant.owner)
    add(client, SoftKey(), name="Blue key")
    [passkey] = passkeys(tenant.owner)
    for name in ("Blue key", "Red key"):
        client.post(reverse("mfa_edit_webauthn", args=[passkey.pk]), {"name": name})
    assert last(tenant)[3:] == ({"name": "Blue key"}, {"name": "Red key"})
    client.post(reverse("mfa_remove_webauthn", args=[passkey.pk]))
    assert ways(tenant) == [
        (AuditAction.PASSKEY_ADDED, "Blue key"),
        (AuditAction.PASSKEY_RENAMED, "Red key"),
        (AuditAction.PASSKEY_REMOVED, "Red key"),
    ]


def test_authenticator_changes_are_logged_without_secrets(tenant: Tenant) -> None:
    client, me = has_shown_who(tenant.owner), tenant.owner.email
    secret = turn_on(client)
    client.post(reverse("mfa_generate_recovery_codes"))
    codes = recovery_codes(tenant.owner)
    client.post(reverse("mfa_deactivate_totp"))
    assert ways(tenant) == [(AuditAction.APP_ON, me), (AuditAction.RECOVERY_CODES, me), (AuditAction.APP_OFF, me)]
    assert not any(one in str([vars(entry) for entry in entries(tenant)]) for one in (secret, *codes))


def test_factor_changes_are_logged_in_every_organization(tenant: Tenant, stranger: Tenant, viewer: User) -> None:
    with stranger.tx():
        Member.objects.create(user=viewer, role=Role.VIEWER)
    turn_on(has_shown_who(viewer))
    for place, owner in ((tenant, tenant.owner), (stranger, stranger.owner)):
        assert "turned on an authenticator app" in browser(owner).get(page_of(place, "member_history")).content.decode()


def test_failed_changes_are_not_logged(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError

    monkeypatch.setattr("allauth.mfa.totp.internal.flows.TOTP.activate", fail)
    client = has_shown_who(tenant.owner)
    client.raise_request_exception = False
    turn_on(client)
    assert ways(tenant) == []


def test_overlong_names_are_truncated_in_the_log(tenant: Tenant) -> None:
    """Names and addresses may be longer; the change itself isn't refused."""
    someone = User(pk=tenant.owner.pk, first_name="A" * 150, last_name="B" * 150, email=f"{'c' * 240}@nello.example")
    with tenant.tx():
        record_change(AuditAction.LEFT, organization_id=tenant.organization.pk, by=someone, subject="s" * 500)
    assert (len(entries(tenant)[-1].actor), len(entries(tenant)[-1].subject)) == (400, 400)


def test_removing_a_factor_in_the_admin_is_logged(tenant: Tenant) -> None:
    add(has_shown_who(tenant.owner), SoftKey(), name="Blue key")
    platform = User.objects.create_superuser("platform@makegood.example", PASSWORD)
    page = reverse("admin:mfa_authenticator_delete", args=[passkeys(tenant.owner)[0].pk])
    browser(platform).post(page, {"post": "yes"})
    assert last(tenant) == (
        AuditAction.FACTOR_TAKEN,
        platform.email,
        tenant.owner.email,
        {"factor": "WebAuthn: Blue key"},
        {},
    )


def test_the_application_cannot_change_entries(tenant: Tenant) -> None:
    with tenant.tx():
        entry = record_change(
            AuditAction.REMOVED, organization_id=tenant.organization.pk, by=tenant.owner, subject="Lena"
        )
    with pytest.raises(ProgrammingError, match="permission denied"), tenant.tx():
        AuditEntry.objects.filter(pk=entry.pk).update(subject="nobody")


def test_the_page_shows_actor_change_and_previous_value(owner: Client, tenant: Tenant, viewer: User) -> None:
    change(owner, tenant, viewer, Role.ADMIN)
    page = owner.get(page_of(tenant, "member_history")).content.decode()
    assert f'{tenant.owner.email}</b> changed the role of <b class="tb">{viewer.email}</b>' in page
    assert "Role: Viewer → Admin" in page


def test_older_entries_are_paginated(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        for number in range(52):
            record_change(
                AuditAction.ADDED,
                organization_id=tenant.organization.pk,
                by=tenant.owner,
                subject=f"person-{number:02}",
            )
    page = owner.get(page_of(tenant, "member_history")).content.decode()
    assert "person-51" in page
    assert "person-00" not in page
    older = page.split('href="?before=')[1].split('"')[0]
    assert "person-00" in owner.get(page_of(tenant, "member_history"), {"before": older}).content.decode()


def test_viewers_cannot_read_the_log(tenant: Tenant, viewer: User) -> None:
    """The log contains addresses of invited people."""
    client = browser(viewer)
    assert client.get(page_of(tenant, "member_history")).status_code == 403
    assert page_of(tenant, "member_history") not in client.get(page_of(tenant, "members")).content.decode()


def test_member_changes_in_the_admin_are_logged(owner: Client, tenant: Tenant, viewer: User) -> None:
    member = membership(tenant, viewer)
    owner.post(reverse("admin:projects_member_change", args=[member.pk]), {"role": Role.OPERATOR})
    assert last(tenant)[1:] == (tenant.owner.email, viewer.email, {"role": "viewer"}, {"role": "operator"})


def test_every_action_has_a_sentence() -> None:
    assert [action for action in AuditAction if action not in SENTENCES] == []


@pytest.mark.parametrize(
    ("before", "after", "shown"),
    [
        ({"limit": "sms", "most": 200}, {"limit": "sms", "most": 50}, ("Limit", "200 text messages per day")),
        ({"from_address": "a@b.example"}, {}, ("From", "a@b.example")),
        ({"security": "tls"}, {}, ("Security", "TLS from the start")),
        ({"scopes": ["read"]}, {}, ("Permissions", "Look at conversations, tools and ledgers")),
        ({"switched_on": "no"}, {}, ("Switched on", "No")),
    ],
)
def test_changes_have_names_for_people(before: dict[str, Any], after: dict[str, Any], shown: tuple[str, str]) -> None:
    [change] = list_changes(before, after)
    assert (change.name, change.before) == shown
