"""The integrations page: connecting, status, connection checks and disconnecting."""

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
    """A member on the page, in a browser."""

    def __init__(self, tenant: Tenant, user: User) -> None:
        self.tenant = tenant
        self.client = Client()
        self.client.force_login(user)
        self.address = reverse("agent", kwargs={"project_slug": tenant.project.slug, "section": "integrations"})

    def page(self) -> str:
        return html.unescape(self.client.get(self.address).content.decode())

    def connect(self, **changes: str) -> Any:
        """Open the page, fill in the form, and save."""
        return self.save(self.seen("smtp"), **changes)

    def save(self, seen: str, **changes: str) -> Any:
        """Save a form that was opened with the values `seen`."""
        typed = {name.replace("__", "."): value for name, value in changes.items()}
        return self.client.post(self.address, {**MAIL, "seen": seen, **typed})

    def seen(self, kind: str) -> str:
        """Return a form's initial values, as a browser submits them; none if the page has no such form."""
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


def test_without_a_connection_messages_go_to_the_outbox(owner: Person) -> None:
    page = owner.page()
    assert page.count("Until connected, everything goes to the outbox") >= 2
    assert "Send a test" not in page


def test_a_saved_connection_is_shown_without_its_secret(owner: Person) -> None:
    assert owner.connect().status_code == 302
    page = owner.page()
    assert "smtp.example.com" in page
    assert f"••••{PASSWORD[-4:]}" in page
    assert PASSWORD not in page


def test_an_error_is_shown_at_its_field_and_the_input_is_kept(owner: Person) -> None:
    response = owner.connect(settings__host="10.0.0.5", settings__from_name="Nello")
    page = response.content.decode()
    assert response.status_code == 422
    assert 'id="smtp-settings-host-error"' in page
    assert "inside a private network (10.0.0.5)" in page
    assert 'value="Nello"' in page
    assert PASSWORD not in page
    assert source_of(owner.tenant, "smtp") is None


def test_a_form_wide_error_is_shown(owner: Person) -> None:
    assert "Passwords are sent over TLS only" in owner.connect(settings__security="none").content.decode()


def test_an_undecryptable_secret_must_be_entered_again(
    owner: Person, settings: Any, local: None, twilio_api: TwilioServer
) -> None:
    """If the operator's key was lost, the page says so and accepts a new secret; the old one is useless."""
    connect_twilio(owner.tenant, twilio_api.url)
    owner.connect()
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    assert "(can’t be decrypted; enter it again)" in owner.page()
    assert owner.test("twilio", "+393331234567") == {
        "ok": False,
        "sentence": "Auth token: the stored one can’t be read. Enter it again.",
    }
    refused = owner.connect(secret="")
    assert refused.status_code == 422
    assert "Password: the stored one can’t be decrypted" in html.unescape(refused.content.decode())
    assert owner.connect().status_code == 302
    assert f"••••{PASSWORD[-4:]}" in owner.page()


@pytest.mark.requirement("F17")
def test_a_rejected_sign_in_shows_a_banner(owner: Person) -> None:
    source = connect_twilio(owner.tenant, "https://api.twilio.com")
    with owner.tenant.tx():
        mark_needs_reauth(source.pk)
    page = owner.page()
    assert "Needs attention" in page
    assert "Sign-in refused" in page
    assert "Reconnect under Integrations: 1" in page


def test_a_test_text_goes_to_the_entered_number(owner: Person, local: None, twilio_api: TwilioServer) -> None:
    connect_twilio(owner.tenant, twilio_api.url)
    assert owner.test("twilio", "333 765 4321") == {
        "ok": True,
        "sentence": "Sent to 333 765 4321. Check that it arrives.",
    }
    form = twilio_api.script.calls[0].form
    assert (form["To"], form["From"]) == ("+393337654321", FROM)
    with owner.tenant.tx():
        assert not Effect.objects.exists()


def test_a_test_email_goes_to_the_entered_address(owner: Person, mail: MailServer, settings: Any) -> None:
    settings.OUTBOUND_ALLOW = [f"127.0.0.1:{mail.port}"]
    port = str(mail.port)
    owner.connect(
        settings__host="127.0.0.1", settings__port=port, settings__security="none", settings__user="", secret=""
    )
    assert owner.test("smtp", "me@example.org")["ok"]
    assert mail.post.messages[0].recipients == ["me@example.org"]


@pytest.mark.requirement("F17")
def test_a_failed_test_says_why_and_marks_the_connection(owner: Person, local: None, twilio_api: TwilioServer) -> None:
    connect_twilio(owner.tenant, twilio_api.url, token="wrong-canary")
    answer = owner.test("twilio", "333 765 4321")
    source = source_of(owner.tenant, "twilio")
    assert answer == {
        "ok": False,
        "sentence": "Twilio rejected the account SID or auth token; connect it again.",
    }
    assert source is not None
    assert source.needs_reauth


@pytest.mark.requirement("F17")
def test_a_successful_test_removes_the_banner(owner: Person, local: None, twilio_api: TwilioServer) -> None:
    source = connect_twilio(owner.tenant, twilio_api.url)
    with owner.tenant.tx():
        mark_needs_reauth(source.pk)
    owner.test("twilio", "333 765 4321")
    assert "Needs attention" not in owner.page()


def test_a_test_to_an_invalid_number_is_not_sent(owner: Person, local: None, twilio_api: TwilioServer) -> None:
    connect_twilio(owner.tenant, twilio_api.url)
    assert "is no phone number" in owner.test("twilio", "me")["sentence"]
    assert twilio_api.script.calls == []


def test_the_page_shows_the_result_without_javascript(owner: Person, local: None, twilio_api: TwilioServer) -> None:
    connect_twilio(owner.tenant, twilio_api.url)
    url = reverse("integration_test", args=[owner.tenant.project.slug, "twilio"])
    assert "Sent to +393337654321" in owner.client.post(url, {"to": "+393337654321"}).content.decode()


def test_disconnecting_forgets_the_secret(owner: Person) -> None:
    owner.connect()
    assert owner.disconnect("smtp").status_code == 302
    assert source_of(owner.tenant, "smtp") is None
    assert "Until connected, everything goes to the outbox" in owner.page()


@pytest.mark.parametrize("kind", ["smtp", "no-such-kind"])
def test_only_a_connected_service_can_be_disconnected(owner: Person, kind: str) -> None:
    assert owner.disconnect(kind).status_code == 404


def test_a_viewer_can_see_the_status_but_not_change_it(owner: Person, viewer: User) -> None:
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


def test_a_token_never_appears_on_pages_or_in_the_admin(owner: Person) -> None:
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


def test_a_concurrent_change_is_not_overwritten(owner: Person, second: Person) -> None:
    """The difference is shown with both versions, and a second save succeeds."""
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


def test_a_concurrent_secret_change_is_reported_without_showing_it(owner: Person, second: Person) -> None:
    owner.connect()
    seen = second.seen("smtp")
    owner.connect(secret="theirs-canary-123")
    refused = second.save(seen, secret="mine-canary-456")
    shown = refused.content.decode()
    assert refused.status_code == 409
    assert "<dt>Password</dt>\n<dd><ins>yours, enter it again</ins></dd>" in shown
    assert "canary" not in shown
    assert second.save(second.seen("smtp"), secret="mine-canary-456").status_code == 302


def test_a_password_is_not_sent_to_a_concurrently_changed_server(owner: Person, second: Person) -> None:
    """Somebody changed the server after the form was opened."""
    owner.connect()
    seen = second.seen("smtp")
    owner.connect(settings__host="other.example.com")
    assert second.save(seen, secret="mine-canary-456").status_code == 409
    assert settings_of(owner)["host"] == "other.example.com"


def test_an_unchanged_form_reverts_nothing(owner: Person, second: Person) -> None:
    owner.connect()
    seen = second.seen("smtp")
    owner.connect(settings__from_name="Anna")
    assert second.save(seen, secret="").status_code == 302
    assert settings_of(owner)["from_name"] == "Anna"


def test_saving_unchanged_values_causes_no_conflict(owner: Person, second: Person) -> None:
    """Neither with the same password nor without one."""
    owner.connect()
    seen = second.seen("smtp")
    owner.connect()
    owner.connect(secret="")
    assert second.save(seen, settings__from_name="Bruno").status_code == 302
    assert settings_of(owner)["from_name"] == "Bruno"


def test_a_concurrently_disconnected_service_is_not_silently_reconnected(owner: Person, second: Person) -> None:
    owner.connect()
    seen = second.seen("smtp")
    owner.disconnect("smtp")
    refused = second.save(seen, settings__from_name="Bruno")
    assert refused.status_code == 409
    assert 'value="Bruno"' in refused.content.decode()
    assert source_of(owner.tenant, "smtp") is None


def test_a_concurrently_changed_connection_is_not_silently_disconnected(owner: Person, second: Person) -> None:
    """The other member's change would be lost."""
    owner.connect()
    seen = second.seen("smtp")
    owner.connect(secret="theirs-canary-123")
    assert second.disconnect("smtp", seen=seen).status_code == 409
    assert source_of(owner.tenant, "smtp") is not None
    assert second.disconnect("smtp", seen=second.seen("smtp")).status_code == 302
