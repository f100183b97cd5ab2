"""The page of integrations: connecting, what is shown of it, a test message, and disconnecting."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.test import Client
from django.urls import reverse

from projects.connections.integrations import mark_needs_reauth
from projects.models import User
from tests.conftest import Tenant
from tests.tools.messaging.conftest import connect_twilio, source_of
from tests.tools.messaging.mail_server import PASSWORD, USER, MailServer
from tests.tools.messaging.twilio_server import FROM, SID, TOKEN, TwilioServer
from tools.models import Effect

MAIL = {
    "kind": "smtp",
    "settings.host": "smtp.example.com",
    "settings.port": "587",
    "settings.security": "starttls",
    "settings.user": USER,
    "settings.from_address": "hello@nello.example",
    "secret": PASSWORD,
}


class Person:
    """A member at the page in a browser."""

    def __init__(self, tenant: Tenant, user: User) -> None:
        self.tenant = tenant
        self.client = Client()
        self.client.force_login(user)
        self.address = reverse("agent", kwargs={"project_slug": tenant.project.slug, "section": "integrations"})

    def page(self) -> str:
        return html.unescape(self.client.get(self.address).content.decode())

    def connect(self, **changes: str) -> Any:
        """Open the page, type, and save."""
        return self.save(self.seen("smtp"), **changes)

    def save(self, seen: str, **changes: str) -> Any:
        """Save a form that was opened when this was seen."""
        typed = {name.replace("__", "."): value for name, value in changes.items()}
        return self.client.post(self.address, {**MAIL, "seen": seen, **typed})

    def seen(self, kind: str) -> str:
        """What the form of a kind begins with, as a browser sends it back; none where the page has no such form."""
        found = re.search(
            rf'name="kind" value="{kind}"><input type="hidden" name="seen" value="([^"]*)"', self.markup()
        )
        return html.unescape(found[1]) if found else ""

    def markup(self) -> str:
        return self.client.get(self.address).content.decode()

    def test(self, kind: str, to: str) -> dict[str, Any]:
        url = reverse("integration_test", args=[self.tenant.project.slug, kind])
        answer: dict[str, Any] = self.client.post(url, {"to": to}, headers={"Accept": "application/json"}).json()
        return answer

    def disconnect(self, kind: str, **seen: str) -> Any:
        return self.client.post(reverse("integration_disconnect", args=[self.tenant.project.slug, kind]), seen)


@pytest.fixture
def owner(tenant: Tenant) -> Person:
    return Person(tenant, tenant.owner)


def test_what_is_not_connected_goes_to_the_outbox(owner: Person) -> None:
    page = owner.page()
    assert "Until you connect it, text messages go to the outbox" in page
    assert "Until you connect it, e-mails go to the outbox" in page
    assert "Send a test" not in page


def test_a_connection_is_made_and_shown_without_its_secret(owner: Person) -> None:
    assert owner.connect().status_code == 302
    page = owner.page()
    assert "smtp.example.com" in page
    assert f"••••{PASSWORD[-4:]}" in page
    assert PASSWORD not in page


def test_what_is_wrong_stands_beside_its_field_and_what_was_typed_stays(owner: Person) -> None:
    response = owner.connect(settings__host="10.0.0.5", settings__from_name="Nello")
    page = response.content.decode()
    assert response.status_code == 422
    assert 'id="smtp-settings-host-error"' in page
    assert "inside a private network (10.0.0.5)" in page
    assert 'value="Nello"' in page
    assert PASSWORD not in page
    assert source_of(owner.tenant, "smtp") is None


def test_a_refusal_of_the_whole_is_shown(owner: Person) -> None:
    assert "Passwords are sent over TLS only" in owner.connect(settings__security="none").content.decode()


def test_a_secret_that_no_key_opens_any_more_is_written_again(
    owner: Person, settings: Any, local: None, twilio_api: TwilioServer
) -> None:
    """After the operator's key was lost the page says so, and takes a new secret; an old one is kept for nothing."""
    connect_twilio(owner.tenant, twilio_api.url)
    owner.connect()
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    assert "(can’t be decrypted; enter it again)" in owner.page()
    assert owner.test("twilio", "+393331234567") == {
        "ok": False,
        "sentence": "The stored auth token can’t be read any more; write it again.",
    }
    refused = owner.connect(secret="")
    assert refused.status_code == 422
    assert "The stored password can’t be decrypted. Enter it again." in html.unescape(refused.content.decode())
    assert owner.connect().status_code == 302
    assert f"••••{PASSWORD[-4:]}" in owner.page()


@pytest.mark.requirement("F17")
def test_a_refused_sign_in_is_a_banner(owner: Person) -> None:
    source = connect_twilio(owner.tenant, "https://api.twilio.com")
    with owner.tenant.tx():
        mark_needs_reauth(source.pk)
    page = owner.page()
    assert "Needs attention" in page
    assert "The sign-in was refused" in page
    assert "1 to be connected again under Integrations" in page


def test_a_test_goes_to_the_number_that_was_typed(owner: Person, local: None, twilio_api: TwilioServer) -> None:
    connect_twilio(owner.tenant, twilio_api.url)
    assert owner.test("twilio", "333 765 4321") == {
        "ok": True,
        "sentence": "Sent to 333 765 4321. Look whether it arrives.",
    }
    form = twilio_api.script.calls[0].form
    assert (form["To"], form["From"]) == ("+393337654321", FROM)
    with owner.tenant.tx():
        assert not Effect.objects.exists()


def test_a_test_goes_to_the_address_that_was_typed(owner: Person, mail: MailServer, settings: Any) -> None:
    settings.OUTBOUND_ALLOW = [f"127.0.0.1:{mail.port}"]
    port = str(mail.port)
    owner.connect(
        settings__host="127.0.0.1", settings__port=port, settings__security="none", settings__user="", secret=""
    )
    assert owner.test("smtp", "me@example.org")["ok"]
    assert mail.post.letters[0].recipients == ["me@example.org"]


@pytest.mark.requirement("F17")
def test_a_test_that_is_refused_says_why_and_marks_the_source(
    owner: Person, local: None, twilio_api: TwilioServer
) -> None:
    connect_twilio(owner.tenant, twilio_api.url, token="wrong-canary")
    answer = owner.test("twilio", "333 765 4321")
    source = source_of(owner.tenant, "twilio")
    assert answer == {
        "ok": False,
        "sentence": "Twilio refuses the account SID or the auth token; connect it again.",
    }
    assert source is not None
    assert source.needs_reauth


@pytest.mark.requirement("F17")
def test_a_test_that_works_ends_the_banner(owner: Person, local: None, twilio_api: TwilioServer) -> None:
    source = connect_twilio(owner.tenant, twilio_api.url)
    with owner.tenant.tx():
        mark_needs_reauth(source.pk)
    owner.test("twilio", "333 765 4321")
    assert "Needs attention" not in owner.page()


def test_a_test_to_no_number_is_sent_nowhere(owner: Person, local: None, twilio_api: TwilioServer) -> None:
    connect_twilio(owner.tenant, twilio_api.url)
    assert "is no phone number" in owner.test("twilio", "me")["sentence"]
    assert twilio_api.script.calls == []


def test_without_the_script_the_page_says_how_it_went(owner: Person, local: None, twilio_api: TwilioServer) -> None:
    connect_twilio(owner.tenant, twilio_api.url)
    url = reverse("integration_test", args=[owner.tenant.project.slug, "twilio"])
    assert "Sent to +393337654321" in owner.client.post(url, {"to": "+393337654321"}).content.decode()


def test_disconnecting_forgets_the_secret(owner: Person) -> None:
    owner.connect()
    assert owner.disconnect("smtp").status_code == 302
    assert source_of(owner.tenant, "smtp") is None
    assert "Until you connect it, e-mails go to the outbox" in owner.page()


@pytest.mark.parametrize("kind", ["smtp", "no-such-kind"])
def test_what_is_not_connected_cannot_be_disconnected(owner: Person, kind: str) -> None:
    assert owner.disconnect(kind).status_code == 404


def test_a_viewer_sees_the_state_and_changes_nothing(owner: Person, viewer: User) -> None:
    owner.connect()
    looker = Person(owner.tenant, viewer)
    assert "smtp.example.com" in looker.page()
    assert "Send a test" not in looker.page()
    assert [looker.connect().status_code, looker.disconnect("smtp").status_code] == [403, 403]


def test_the_outbox_shows_what_would_have_been_sent(owner: Person) -> None:
    message = {"to": "+393331234567", "text": "Friday at <b>20:00</b>"}
    with owner.tenant.tx():
        Effect.objects.create(
            project_id=owner.tenant.project.pk,
            effect_key="x",
            tool="send_sms_tool",
            kind="sms",
            delivery="once",
            definition={},
            adapter="outbox",
            result={"outbox": True, "message": message},
        )
    assert "Friday at &lt;b&gt;20:00&lt;/b&gt;" in owner.client.get(owner.address).content.decode()


def test_a_token_stays_out_of_the_pages_and_the_admin(owner: Person) -> None:
    source = connect_twilio(owner.tenant, "https://api.twilio.com")
    admin = reverse("admin:projects_source_change", args=[source.pk])
    entered = owner.client.get(reverse("admin:enter", args=[owner.tenant.organization.pk]), follow=True)
    assert entered.status_code == 200
    page = owner.client.get(admin).content.decode()
    assert SID in page
    assert TOKEN not in page
    assert source.secret not in page


@pytest.fixture
def second(owner: Person) -> Person:
    """Another browser of the same tenant."""
    return Person(owner.tenant, owner.tenant.owner)


def settings_of(person: Person) -> dict[str, Any]:
    source = source_of(person.tenant, "smtp")
    assert source is not None
    return source.settings


def test_a_connection_that_was_changed_meanwhile_is_not_saved_over(owner: Person, second: Person) -> None:
    """The difference is shown, with what both changed, and a second save stands."""
    owner.connect()
    seen = second.seen("smtp")
    owner.connect(settings__from_name="Anna", settings__port="465", settings__security="tls")
    refused = second.save(seen, settings__from_name="Bruno")
    shown = refused.content.decode()
    assert refused.status_code == 409
    assert f"{owner.tenant.owner.email} saved this connection while you were editing" in shown
    assert "<dt>From name</dt>\n<dd><del>Anna</del><ins>Bruno</ins></dd>" in shown
    assert 'value="Bruno"' in shown
    assert 'value="465"' in shown
    assert "<dd>Anna</dd>" in shown
    assert settings_of(owner)["from_name"] == "Anna"
    second.connect(settings__from_name="Bruno", settings__port="465", settings__security="tls")
    assert settings_of(owner)["from_name"] == "Bruno"


def test_a_secret_that_two_write_is_told_of_and_shown_to_neither(owner: Person, second: Person) -> None:
    owner.connect()
    seen = second.seen("smtp")
    owner.connect(secret="theirs-canary-123")
    refused = second.save(seen, secret="mine-canary-456")
    shown = refused.content.decode()
    assert refused.status_code == 409
    assert "<dt>Password</dt>\n<dd><ins>yours, enter it again</ins></dd>" in shown
    assert "canary" not in shown
    assert second.save(second.seen("smtp"), secret="mine-canary-456").status_code == 302


def test_a_password_goes_to_no_server_that_it_was_not_written_beside(owner: Person, second: Person) -> None:
    """Somebody else has changed the server since the form was opened."""
    owner.connect()
    seen = second.seen("smtp")
    owner.connect(settings__host="other.example.com")
    assert second.save(seen, secret="mine-canary-456").status_code == 409
    assert settings_of(owner)["host"] == "other.example.com"


def test_who_changed_nothing_takes_back_nothing_of_another(owner: Person, second: Person) -> None:
    owner.connect()
    seen = second.seen("smtp")
    owner.connect(settings__from_name="Anna")
    assert second.save(seen, secret="").status_code == 302
    assert settings_of(owner)["from_name"] == "Anna"


def test_who_saved_what_stood_there_is_in_nobodys_way(owner: Person, second: Person) -> None:
    """Neither with the same password, nor with none."""
    owner.connect()
    seen = second.seen("smtp")
    owner.connect()
    owner.connect(secret="")
    assert second.save(seen, settings__from_name="Bruno").status_code == 302
    assert settings_of(owner)["from_name"] == "Bruno"


def test_what_was_disconnected_meanwhile_is_not_connected_again_unseen(owner: Person, second: Person) -> None:
    owner.connect()
    seen = second.seen("smtp")
    owner.disconnect("smtp")
    refused = second.save(seen, settings__from_name="Bruno")
    assert refused.status_code == 409
    assert 'value="Bruno"' in refused.content.decode()
    assert source_of(owner.tenant, "smtp") is None


def test_a_connection_that_was_changed_meanwhile_is_not_ended_unseen(owner: Person, second: Person) -> None:
    """What another has just written would be forgotten."""
    owner.connect()
    seen = second.seen("smtp")
    owner.connect(secret="theirs-canary-123")
    assert second.disconnect("smtp", seen=seen).status_code == 409
    assert source_of(owner.tenant, "smtp") is not None
    assert second.disconnect("smtp", seen=second.seen("smtp")).status_code == 302
