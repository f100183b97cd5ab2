"""A project's connections: typed settings, a write-only secret, and the state of the sign-in."""

from __future__ import annotations

from typing import Any

import pytest

from projects.agents.services import create_project
from projects.common.crypto import WrongSecret
from projects.connections.integration_types import KINDS
from projects.connections.integrations import (
    SourceEdit,
    checked_settings,
    clear_needs_reauth,
    connect_source,
    disconnect_source,
    loaded_state,
    mark_needs_reauth,
    needing_reauth,
    open_source,
    secret_hint,
)
from projects.models import Source
from projects.models.agent_errors import SettingsRefused
from tests.concurrent import meanwhile
from tests.conftest import Tenant
from tests.tools.messaging.twilio_server import FROM, SID, TOKEN

MAIL = {"host": "smtp.example.com", "from_address": "hello@nello.example", "user": "agent"}
TEXTS = {"account_sid": SID, "sender": FROM}


def connect(tenant: Tenant, kind: str, settings: dict[str, Any], secret: str = "") -> Source:
    with tenant.tx():
        return connect_source(tenant.project, KINDS[kind], SourceEdit(settings, secret), by=tenant.owner)


def refusal(kind: str, settings: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(SettingsRefused) as refused:
        checked_settings(KINDS[kind], settings)
    return refused.value.errors


def test_a_connection_is_opened_with_its_secret(tenant: Tenant) -> None:
    connect(tenant, "smtp", MAIL, TOKEN)
    with tenant.tx():
        opened = open_source(tenant.project.pk, "smtp")
    assert opened is not None
    assert (opened.settings.server, opened.secret, opened.needs_reauth) == ("smtp.example.com:587", TOKEN, False)


def test_the_secret_is_encrypted_and_stays_out_of_the_repr(tenant: Tenant) -> None:
    source = connect(tenant, "smtp", MAIL, TOKEN)
    with tenant.tx():
        opened = open_source(tenant.project.pk, "smtp")
    assert TOKEN not in source.secret
    assert TOKEN not in f"{opened!r}{source.settings}"


def test_the_last_four_characters_of_a_secret_are_shown(tenant: Tenant) -> None:
    source = connect(tenant, "smtp", MAIL, TOKEN)
    assert secret_hint(source) == f"••••{TOKEN[-4:]}"


@pytest.mark.parametrize(("secret", "hint"), [("short", "••••"), ("a-secret-11", "••••"), ("a-secret-012", "••••-012")])
def test_nothing_of_a_short_secret_is_shown(tenant: Tenant, secret: str, hint: str) -> None:
    assert secret_hint(connect(tenant, "smtp", MAIL, secret)) == hint


@pytest.mark.parametrize("secret", ["x" * 501, "two\nlines", "a\x00zero"])
def test_an_impossible_secret_is_refused(tenant: Tenant, secret: str) -> None:
    with pytest.raises(SettingsRefused, match="Use at most 500 characters") as refused:
        connect(tenant, "smtp", MAIL, secret)
    assert list(refused.value.errors) == ["secret"]
    assert secret not in str(refused.value.errors)


def test_an_empty_secret_keeps_the_stored_one(tenant: Tenant) -> None:
    connect(tenant, "smtp", MAIL, TOKEN)
    connect(tenant, "smtp", {**MAIL, "from_name": "Nello"})
    with tenant.tx():
        opened = open_source(tenant.project.pk, "smtp")
    assert opened is not None
    assert opened.secret == TOKEN


@pytest.mark.parametrize("change", [{"host": "smtp.elsewhere.example"}, {"port": 465}])
def test_a_stored_secret_is_not_sent_to_another_server(tenant: Tenant, change: dict[str, Any]) -> None:
    """Its owner could read it there."""
    connect(tenant, "smtp", MAIL, TOKEN)
    with pytest.raises(SettingsRefused, match="Password: the stored one is for another address"):
        connect(tenant, "smtp", {**MAIL, **change})


def test_reconnecting_clears_a_rejected_sign_in(tenant: Tenant) -> None:
    source = connect(tenant, "twilio", TEXTS, TOKEN)
    with tenant.tx():
        mark_needs_reauth(source.pk)
    connect(tenant, "twilio", TEXTS, "another-token")
    with tenant.tx():
        assert not Source.objects.get(pk=source.pk).needs_reauth


@pytest.mark.requirement("F17")
def test_a_rejected_sign_in_is_recorded_once(tenant: Tenant) -> None:
    source = connect(tenant, "twilio", TEXTS, TOKEN)
    with tenant.tx():
        assert [mark_needs_reauth(source.pk), mark_needs_reauth(source.pk)] == [True, False]
        assert [clear_needs_reauth(source.pk), clear_needs_reauth(source.pk)] == [True, False]


@pytest.mark.requirement("F17")
def test_only_this_projects_enabled_connections_need_reauth(tenant: Tenant) -> None:
    """Not another project's, nor those that the operator disabled."""
    source = connect(tenant, "twilio", TEXTS, TOKEN)
    with tenant.tx():
        mark_needs_reauth(source.pk)
        other = create_project("Other", config=tenant.project.agent_version.config)
        assert list(needing_reauth(tenant.project)) == [source]
        assert not needing_reauth(other).exists()
        Source.objects.update(is_enabled=False)
        assert not needing_reauth(tenant.project).exists()


def test_disconnecting_deletes_everything(tenant: Tenant) -> None:
    connect(tenant, "smtp", MAIL, TOKEN)
    with tenant.tx():
        assert disconnect_source(tenant.project, KINDS["smtp"], by=tenant.owner)
        assert not disconnect_source(tenant.project, KINDS["smtp"], by=tenant.owner)
        assert not Source.objects.exists()


def test_a_secret_decrypts_only_for_its_own_type(tenant: Tenant) -> None:
    """Otherwise, somebody who moves it in the database could have it sent to their own server."""
    texts = connect(tenant, "twilio", TEXTS, TOKEN)
    connect(tenant, "smtp", MAIL, "a-password-of-mine")
    with tenant.tx():
        Source.objects.filter(kind="smtp").update(secret=texts.secret)
        with pytest.raises(WrongSecret):
            open_source(tenant.project.pk, "smtp")


def test_the_later_of_two_concurrent_connects_wins(tenant: Tenant) -> None:
    """One waits for the other, and neither gets an error."""
    with meanwhile("projects_source", lambda: connect(tenant, "smtp", MAIL, "a-later-password")) as other:
        connect(tenant, "smtp", MAIL, "an-earlier-password")
    other[0].result()
    with tenant.tx():
        opened = open_source(tenant.project.pk, "smtp")
    assert opened is not None
    assert opened.secret == "a-later-password"


def test_disconnecting_waits_for_a_concurrent_connect(tenant: Tenant) -> None:
    """The connection is then deleted completely."""

    def end() -> bool:
        with tenant.tx():
            return disconnect_source(tenant.project, KINDS["smtp"], by=tenant.owner)

    connect(tenant, "smtp", MAIL, TOKEN)
    with meanwhile("projects_source", end) as other:
        connect(tenant, "smtp", {**MAIL, "from_name": "Nello"})
    assert other[0].result() is True
    with tenant.tx():
        assert not Source.objects.exists()


def test_a_disabled_connection_is_not_used(tenant: Tenant) -> None:
    """To connect it again, the secret must be entered again."""
    connect(tenant, "twilio", TEXTS, TOKEN)
    with tenant.tx():
        Source.objects.update(is_enabled=False)
        assert open_source(tenant.project.pk, "twilio") is None
    with pytest.raises(SettingsRefused, match="Auth token is required"):
        connect(tenant, "twilio", TEXTS)
    with tenant.tx():
        edit = SourceEdit(TEXTS, "another-token")
        # The page never showed it.
        connect_source(tenant.project, KINDS["twilio"], edit, by=tenant.owner, seen=loaded_state(None))
        opened = open_source(tenant.project.pk, "twilio")
    assert opened is not None
    assert opened.secret == "another-token"


def test_a_connection_belongs_to_one_project(tenant: Tenant, stranger: Tenant) -> None:
    connect(tenant, "smtp", MAIL, TOKEN)
    with stranger.tx():
        assert open_source(tenant.project.pk, "smtp") is None


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"host": ""}, "host", "This field is required."),
        ({"host": "10.0.0.5"}, "host", "This address is inside a private network (10.0.0.5)."),
        ({"host": "127.1"}, "host", "This address is inside a private network (127.0.0.1)."),
        ({"host": "localhost"}, "host", "This address is this machine itself (localhost)."),
        ({"port": "6379"}, "host", "Port 6379 may not be called."),
        ({"port": "x"}, "port", "Enter a whole number from 1 to 65535, usually 587."),
        ({"port": "70000"}, "port", "Enter a whole number from 1 to 65535, usually 587."),
        ({"from_address": "nello"}, "from_address", "Enter an e-mail address like hello@example.com."),
        ({"from_name": "N\r\nBcc: x"}, "from_name", "Remove the line break or control character."),
        (
            {"security": "none"},
            "settings",
            "Passwords are sent over TLS only. Choose STARTTLS or TLS, or leave the user empty.",
        ),
    ],
)
def test_an_invalid_mail_server_is_refused_with_a_hint(change: dict[str, Any], field: str, sentence: str) -> None:
    assert refusal("smtp", {**MAIL, **change}) == {field: sentence}


@pytest.mark.parametrize("port", [25, 465, 587, 2525])
def test_only_mail_ports_are_allowed(port: int) -> None:
    assert checked_settings(KINDS["smtp"], {**MAIL, "port": port}).server == f"smtp.example.com:{port}"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"account_sid": "AC1"}, "account_sid"),
        ({"account_sid": f"{SID}/../x"}, "account_sid"),
        ({"sender": ""}, "settings"),
        ({"sender": "12"}, "sender"),
        ({"sender": "A name that is too long"}, "sender"),
        ({"base_url": "ftp://api.twilio.com"}, "base_url"),
        ({"base_url": "http://169.254.169.254"}, "base_url"),
        # The token and the texts could be intercepted.
        ({"base_url": "http://sms.example.com"}, "base_url"),
    ],
)
def test_an_invalid_twilio_account_is_refused(change: dict[str, Any], field: str) -> None:
    assert list(refusal("twilio", {**TEXTS, **change})) == [field]


def test_twilio_needs_its_token(tenant: Tenant) -> None:
    with pytest.raises(SettingsRefused, match="Auth token is required"):
        connect(tenant, "twilio", TEXTS)


@pytest.mark.parametrize("sender", ["+1 415 555 0100", "Da Nello", "MG" + "0" * 32])
def test_a_sender_is_a_number_a_name_or_a_service(sender: str) -> None:
    kept = checked_settings(KINDS["twilio"], {**TEXTS, "sender": sender}).model_dump()["sender"]
    assert kept == ("+14155550100" if sender.startswith("+") else sender)


@pytest.mark.requirement("F17")
def test_a_late_rejection_of_old_credentials_does_not_mark_the_new_ones(tenant: Tenant) -> None:
    """A message on its way with the old password is rejected after the new one was saved."""
    connect(tenant, "smtp", MAIL, "old and wrong")
    with tenant.tx():
        tried = open_source(tenant.project.pk, "smtp")
    assert tried is not None
    source = connect(tenant, "smtp", MAIL, TOKEN)
    with tenant.tx():
        assert not mark_needs_reauth(source.pk, tried=tried)
        again = open_source(tenant.project.pk, "smtp")
        assert mark_needs_reauth(source.pk, tried=again)
        assert not clear_needs_reauth(source.pk, tried=tried)
