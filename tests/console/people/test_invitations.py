"""Invitations: permissions, delivery, revocation."""

from __future__ import annotations

import logging

import pytest
from django.db import IntegrityError
from django.test import Client
from django.utils import timezone

from projects.accounts import invitations
from projects.accounts.invitations import open_invitations
from projects.common.logs import RedactingFormatter, redact
from projects.models import Invitation, Member, Role, User
from tests.conftest import Tenant, member_of
from tests.console.people.conftest import Mailbox, browser, invite, link_in, page_of

LENA = "lena@new.example"


def only(tenant: Tenant) -> Invitation:
    with tenant.tx():
        return Invitation.objects.get()


def opens(path: str) -> bool:
    """Return True if the link is still valid."""
    return Client().get(path).status_code == 302


def test_an_invitation_arrives_by_e_mail(owner: Client, tenant: Tenant, mailbox: Mailbox) -> None:
    text = invite(owner, tenant, LENA)
    (message,) = mailbox.messages
    assert (message["To"], message["Subject"]) == (LENA, "Join Nello on Makegood")
    assert "Operator: " in mailbox.last_text()
    assert opens(link_in(mailbox.last_text()))
    assert f"Invitation sent to {LENA}." in text
    assert "mgi_" not in text


def test_without_a_mail_server_the_page_shows_the_link_once(owner: Client, tenant: Tenant) -> None:
    text = invite(owner, tenant, LENA)
    assert "Invitation created." in text
    assert opens(link_in(text))
    assert "mgi_" not in owner.get(page_of(tenant, "members")).content.decode()


def test_a_refused_e_mail_shows_the_link_on_the_page(owner: Client, tenant: Tenant, mailbox: Mailbox) -> None:
    mailbox.is_refusing = True
    text = invite(owner, tenant, LENA)
    assert "The e-mail couldn’t be sent." in text
    assert opens(link_in(text))


def test_an_unreachable_mail_server_shows_the_link_on_the_page(owner: Client, tenant: Tenant, settings) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    assert opens(link_in(invite(owner, tenant, LENA)))


def test_no_e_mail_is_sent_if_the_invitation_is_not_stored(
    owner: Client, tenant: Tenant, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise IntegrityError

    monkeypatch.setattr(Invitation.objects, "create", fail)
    with pytest.raises(IntegrityError):
        invite(owner, tenant, LENA)
    assert mailbox.messages == []


def test_only_the_hash_of_a_token_is_stored(owner: Client, tenant: Tenant) -> None:
    token = link_in(invite(owner, tenant, LENA)).rsplit("/", 1)[1]
    assert len(token) >= len("mgi_") + 43
    row = str(vars(only(tenant)))
    assert token not in row
    assert Invitation.digest_of(token) in row


def test_links_are_not_logged(owner: Client, tenant: Tenant, caplog: pytest.LogCaptureFixture, settings) -> None:
    """Neither on creation without a mail server, nor when opened or unknown."""
    settings.EMAIL_BACKEND = "projects.common.mail.LogBackend"
    with caplog.at_level(logging.DEBUG):
        path = link_in(invite(owner, tenant, LENA))
        Client().get(path)
        Client().get(f"{path}x")
    lines = [RedactingFormatter().format(record) for record in caplog.records]
    assert any("Set EMAIL_HOST" in line for line in lines)
    assert LENA not in "".join(lines)
    assert path.rsplit("/", 1)[1] not in "".join(lines)


@pytest.mark.parametrize(
    "line",
    [
        "Gone: /invitations/mgi_SecretSecret-Secret_x",
        "Not Found: /account/password/reset/key/1-SecretSecret-x/",
        "GET /account/confirm-email/MQ:SecretSecret:x-y/",
    ],
)
def test_account_links_are_redacted_from_log_lines(line: str) -> None:
    assert "SecretSecret" not in redact(line)
    assert redact(line).startswith(line[:16])


def test_an_address_has_at_most_one_open_invitation(owner: Client, tenant: Tenant) -> None:
    invite(owner, tenant, LENA)
    assert f"{LENA} was already invited" in invite(owner, tenant, LENA.upper())
    assert only(tenant).email == LENA


def test_the_database_enforces_one_open_invitation_per_address(owner: Client, tenant: Tenant) -> None:
    invite(owner, tenant, LENA)
    values = {"role": Role.VIEWER, "digest": "x", "expires_at": timezone.now()}
    with pytest.raises(IntegrityError, match="one_open_invitation"), tenant.tx():
        Invitation.objects.create(email=LENA.title(), **values)


def test_a_member_is_not_invited_again(owner: Client, tenant: Tenant, viewer: User) -> None:
    assert "is already a member" in invite(owner, tenant, viewer.email.upper())


@pytest.mark.parametrize("email", ["", "lena", "lena@", "a@b.example\nBcc: all@b.example", "x" * 260 + "@b.example"])
def test_an_invalid_address_is_refused_at_its_field(owner: Client, tenant: Tenant, email: str) -> None:
    assert 'id="invite-email-error"' in invite(owner, tenant, email)
    with tenant.tx():
        assert not Invitation.objects.exists()


def test_an_organizations_name_cannot_inject_headers(owner: Client, tenant: Tenant, mailbox: Mailbox) -> None:
    with tenant.tx():
        type(tenant.organization).objects.update(name="Nello\r\nBcc: all@new.example")
    invite(owner, tenant, LENA)
    assert mailbox.messages[0]["Bcc"] is None


def test_an_admin_cannot_invite_an_owner(tenant: Tenant, admin: User) -> None:
    assert "Only an owner can add or change owners." in invite(browser(admin), tenant, LENA, Role.OWNER)
    with tenant.tx():
        assert not Invitation.objects.exists()


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.VIEWER])
def test_operators_and_viewers_cannot_invite(tenant: Tenant, role: Role) -> None:
    client = browser(member_of(tenant, role))
    assert client.post(page_of(tenant, "members"), {"email": LENA, "role": Role.VIEWER}).status_code == 403


def test_resending_stops_the_previous_link(owner: Client, tenant: Tenant) -> None:
    first = link_in(invite(owner, tenant, LENA))
    answer = owner.post(page_of(tenant, "invitation_send", only(tenant).pk), follow=True)
    second = link_in(answer.content.decode())
    assert [opens(first), opens(second)] == [False, True]


def test_revoking_stops_the_link(owner: Client, tenant: Tenant) -> None:
    path = link_in(invite(owner, tenant, LENA))
    answer = owner.post(page_of(tenant, "invitation_revoke", only(tenant).pk), follow=True)
    assert f"Invitation for {LENA} revoked." in answer.content.decode()
    assert not opens(path)


def test_an_expired_invitation_can_be_resent(owner: Client, tenant: Tenant) -> None:
    path = link_in(invite(owner, tenant, LENA))
    assert (only(tenant).expires_at - timezone.now()).days == 6
    with tenant.tx():
        open_invitations().update(expires_at=timezone.now())
    assert not opens(path)
    assert opens(link_in(invite(owner, tenant, LENA)))


def test_an_admin_can_neither_resend_nor_revoke_an_owners_invitation(
    owner: Client, tenant: Tenant, admin: User
) -> None:
    path = link_in(invite(owner, tenant, LENA, Role.OWNER))
    for name in ("invitation_send", "invitation_revoke"):
        browser(admin).post(page_of(tenant, name, only(tenant).pk))
    assert opens(path)


def test_a_renewed_link_verifies_no_address_until_it_is_e_mailed(tenant: Tenant) -> None:
    with tenant.tx():
        by = Member.objects.get(user=tenant.owner)
        sent = invitations.invite(LENA, role=Role.VIEWER, by=by)
        invitations.record_emailed(sent)
        again = invitations.renew(sent.invitation, by=by)
    offer = invitations.read_offer(again.token)
    assert offer is not None
    assert not offer.was_emailed


@pytest.mark.parametrize("role", [Role.VIEWER, Role.OPERATOR])
def test_an_invitation_is_void_once_its_inviter_may_not_invite(
    role: Role, tenant: Tenant, admin: User, owner: Client
) -> None:
    path = link_in(invite(browser(admin), tenant, LENA))
    with tenant.tx():
        Member.objects.filter(user=admin).update(role=role)
    assert not opens(path)
    assert "Invalid" in owner.get(page_of(tenant, "members")).content.decode()


def test_another_tenants_invitation_is_not_found(owner: Client, tenant: Tenant, stranger: Tenant) -> None:
    path = link_in(invite(browser(stranger.owner), stranger, LENA))
    for name in ("invitation_send", "invitation_revoke"):
        assert owner.post(page_of(tenant, name, only(stranger).pk)).status_code == 404
    assert opens(path)


def test_viewers_do_not_see_invitations(owner: Client, tenant: Tenant, viewer: User) -> None:
    invite(owner, tenant, LENA)
    assert LENA not in browser(viewer).get(page_of(tenant, "members")).content.decode()


def test_invitations_are_rate_limited(owner: Client, tenant: Tenant, mailbox: Mailbox) -> None:
    for n in range(31):
        owner.post(page_of(tenant, "members"), {"email": f"n{n}@new.example", "role": Role.VIEWER})
    assert len(mailbox.messages) == 30
