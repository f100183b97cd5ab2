"""A project's connections: typed settings, a secret that only goes in, and the state of the sign-in (D24, F17, S4)."""

from __future__ import annotations

from typing import Any

import pytest

from projects.agent_sentences import SettingsRefused
from projects.models import Source
from projects.source_kinds import KINDS
from projects.sources import (
    SourceEdit,
    checked_settings,
    clear_needs_reauth,
    connect_source,
    disconnect_source,
    mark_needs_reauth,
    open_source,
    secret_hint,
)
from tests.conftest import Tenant
from tests.integrations.twilio_server import FROM, SID, TOKEN

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
    """D24"""
    connect(tenant, "smtp", MAIL, TOKEN)
    with tenant.tx():
        opened = open_source(tenant.project.pk, "smtp")
    assert opened is not None
    assert (opened.settings.server, opened.secret, opened.needs_reauth) == ("smtp.example.com:587", TOKEN, False)


def test_the_secret_is_encrypted_and_stays_out_of_the_repr(tenant: Tenant) -> None:
    """S2"""
    source = connect(tenant, "smtp", MAIL, TOKEN)
    with tenant.tx():
        opened = open_source(tenant.project.pk, "smtp")
    assert TOKEN not in source.secret
    assert TOKEN not in f"{opened!r}{source.settings}"


def test_people_see_the_last_four_of_a_secret(tenant: Tenant) -> None:
    """S4"""
    source = connect(tenant, "smtp", MAIL, TOKEN)
    assert secret_hint(source) == f"••••{TOKEN[-4:]}"


def test_of_a_short_secret_people_see_nothing(tenant: Tenant) -> None:
    assert secret_hint(connect(tenant, "smtp", MAIL, "short")) == "••••"


def test_an_empty_secret_keeps_the_stored_one(tenant: Tenant) -> None:
    """S4"""
    connect(tenant, "smtp", MAIL, TOKEN)
    connect(tenant, "smtp", {**MAIL, "from_name": "Nello"})
    with tenant.tx():
        opened = open_source(tenant.project.pk, "smtp")
    assert opened is not None
    assert opened.secret == TOKEN


@pytest.mark.parametrize("change", [{"host": "smtp.elsewhere.example"}, {"port": 465}])
def test_a_stored_secret_goes_to_no_other_server(tenant: Tenant, change: dict[str, Any]) -> None:
    """Its owner could read it there."""
    connect(tenant, "smtp", MAIL, TOKEN)
    with pytest.raises(SettingsRefused, match="The stored password is for another address"):
        connect(tenant, "smtp", {**MAIL, **change})


def test_connecting_again_forgets_that_the_sign_in_was_refused(tenant: Tenant) -> None:
    source = connect(tenant, "twilio", TEXTS, TOKEN)
    with tenant.tx():
        mark_needs_reauth(source.pk)
    connect(tenant, "twilio", TEXTS, "another-token")
    with tenant.tx():
        assert not Source.objects.get(pk=source.pk).needs_reauth


def test_a_refused_sign_in_is_noted_once(tenant: Tenant) -> None:
    """F17"""
    source = connect(tenant, "twilio", TEXTS, TOKEN)
    with tenant.tx():
        assert [mark_needs_reauth(source.pk), mark_needs_reauth(source.pk)] == [True, False]
        assert [clear_needs_reauth(source.pk), clear_needs_reauth(source.pk)] == [True, False]


def test_disconnecting_forgets_everything(tenant: Tenant) -> None:
    connect(tenant, "smtp", MAIL, TOKEN)
    with tenant.tx():
        assert disconnect_source(tenant.project, KINDS["smtp"], by=tenant.owner)
        assert not disconnect_source(tenant.project, KINDS["smtp"], by=tenant.owner)
        assert not Source.objects.exists()


def test_a_connection_is_the_projects_alone(tenant: Tenant, stranger: Tenant) -> None:
    connect(tenant, "smtp", MAIL, TOKEN)
    with stranger.tx():
        assert open_source(tenant.project.pk, "smtp") is None


@pytest.mark.parametrize(
    ("change", "field", "sentence"),
    [
        ({"host": ""}, "host", "Write something here; empty, it can't work."),
        ({"host": "10.0.0.5"}, "host", "This address is inside a private network (10.0.0.5)."),
        ({"host": "127.1"}, "host", "This address is inside a private network (127.0.0.1)."),
        ({"host": "localhost"}, "host", "This address is this machine itself (localhost)."),
        ({"port": "6379"}, "host", "Port 6379 may not be called."),
        ({"port": "x"}, "port", "Write a whole number from 1 to 65535; 587 is usual."),
        ({"port": "70000"}, "port", "Write a whole number from 1 to 65535; 587 is usual."),
        ({"from_address": "nello"}, "from_address", "Write an e-mail address like hello@example.com."),
        ({"from_name": "N\r\nBcc: x"}, "from_name", "There is a line break or a control character in it; remove it."),
        (
            {"security": "none"},
            "settings",
            "A password is only sent over TLS: choose STARTTLS or TLS, or leave the user empty.",
        ),
    ],
)
def test_a_mail_server_that_cannot_work_is_refused_with_the_way(
    change: dict[str, Any], field: str, sentence: str
) -> None:
    assert refusal("smtp", {**MAIL, **change}) == {field: sentence}


@pytest.mark.parametrize("port", [25, 465, 587, 2525])
def test_mail_servers_listen_where_mail_servers_do(port: int) -> None:
    assert checked_settings(KINDS["smtp"], {**MAIL, "port": port}).server == f"smtp.example.com:{port}"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"account_sid": "AC1"}, "account_sid"),
        ({"account_sid": f"{SID}/../x"}, "account_sid"),
        ({"sender": ""}, "sender"),
        ({"sender": "12"}, "sender"),
        ({"sender": "A name that is too long"}, "sender"),
        ({"base_url": "ftp://api.twilio.com"}, "base_url"),
        ({"base_url": "http://169.254.169.254"}, "base_url"),
    ],
)
def test_a_twilio_account_that_cannot_work_is_refused(change: dict[str, Any], field: str) -> None:
    assert list(refusal("twilio", {**TEXTS, **change})) == [field]


def test_twilio_needs_its_token(tenant: Tenant) -> None:
    with pytest.raises(SettingsRefused, match="Write the auth token"):
        connect(tenant, "twilio", TEXTS)


@pytest.mark.parametrize("sender", ["+1 415 555 0100", "Da Nello", "MG" + "0" * 32])
def test_a_sender_is_a_number_a_name_or_a_service(sender: str) -> None:
    kept = checked_settings(KINDS["twilio"], {**TEXTS, "sender": sender}).model_dump()["sender"]
    assert kept == ("+14155550100" if sender.startswith("+") else sender)


def test_a_refusal_of_the_sign_in_before_says_nothing_of_the_new_one(tenant: Tenant) -> None:
    """F17: a message that was on its way with the old password comes back refused after the new one was connected."""
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
