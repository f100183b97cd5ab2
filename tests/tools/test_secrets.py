"""Signing secrets and secret headers: shown once, encrypted, write-only."""

from __future__ import annotations

import base64
from datetime import timedelta

import pytest
from django.test import Client

from projects.common import crypto
from tests.concurrent import meanwhile
from tests.tools.conftest import Tools
from tests.tools.examples import NAME, event, webhook
from tools.engine import signing_secrets
from tools.engine.custom import secrets as custom_secrets
from tools.engine.custom import service
from tools.engine.custom.secrets import (
    WebhookSecrets,
    read_secrets,
    rotate_signing_secret,
    secret_names,
    secrets_of,
    set_secret_headers,
)
from tools.engine.validation.problem import DefinitionRefused
from tools.models import CustomTool


def read(tools: Tools) -> WebhookSecrets:
    with tools.tenant.tx():
        return secrets_of(tools.tenant.project.pk, NAME)


def test_the_first_save_of_a_webhook_creates_a_signing_secret(tools: Tools) -> None:
    """Standard Webhooks: `whsec_` and 24 to 64 bytes in base64."""
    secret = tools.save(NAME, webhook()).signing_secret
    assert secret
    assert len(base64.b64decode(secret.removeprefix("whsec_"))) == 32
    assert read(tools).signing == [secret]


def test_the_signing_secret_is_shown_once(tools: Tools) -> None:
    tools.save(NAME, webhook())
    assert tools.save(NAME, webhook(method="PUT")).signing_secret is None


def test_a_tool_without_a_webhook_has_no_secret(tools: Tools) -> None:
    assert tools.save(NAME, event()).signing_secret is None
    assert tools.row(NAME).secrets == ""


def test_the_previous_secret_also_signs_for_a_day(tools: Tools, monkeypatch: pytest.MonkeyPatch) -> None:
    first = tools.save(NAME, webhook()).signing_secret
    with tools.tenant.tx():
        second = rotate_signing_secret(CustomTool.objects.get())
    assert read(tools).signing == [second, first]
    later = signing_secrets.timezone.now() + timedelta(hours=25)
    monkeypatch.setattr(signing_secrets.timezone, "now", lambda: later)
    assert read(tools).signing == [second]


def test_at_most_two_secrets_sign(tools: Tools) -> None:
    """Two rotations revoke a leaked secret."""
    first = tools.save(NAME, webhook()).signing_secret
    for _ in range(2):
        with tools.tenant.tx():
            rotate_signing_secret(CustomTool.objects.get())
    assert (len(read(tools).signing), first in read(tools).signing) == (2, False)


def test_secret_headers_are_set_and_removed_by_name(tools: Tools) -> None:
    tools.save(NAME, webhook())
    with tools.tenant.tx():
        tool = CustomTool.objects.get()
        assert set_secret_headers(tool, {"Authorization": "Bearer a", "X-Key": "b"}) == ["Authorization", "X-Key"]
        assert set_secret_headers(tool, {"authorization": None}) == ["X-Key"]
    assert read(tools).headers == {"X-Key": "b"}


@pytest.mark.parametrize("headers", [{"Host": "x"}, {"X-A": "b\r\nc"}, {"Webhook-Id": "x"}, {"X-A": ""}, {"X A": "b"}])
def test_an_invalid_secret_header_is_refused(tools: Tools, headers: dict[str, str]) -> None:
    """The sentence names the header, never its value."""
    tools.save(NAME, webhook())
    with pytest.raises(DefinitionRefused) as refused, tools.tenant.tx():
        set_secret_headers(CustomTool.objects.get(), headers)
    [(name, value)] = headers.items()
    assert refused.value.field == f"headers.{name}"
    assert not value or value not in refused.value.message


def test_secrets_are_stored_encrypted(tools: Tools) -> None:
    secret = tools.save(NAME, webhook()).signing_secret
    assert secret
    row = tools.row(NAME)
    assert secret not in f"{row.secrets} {row.definition}"


def test_a_secret_copied_from_another_row_cannot_be_decrypted(tools: Tools) -> None:
    tools.save(NAME, webhook())
    tools.save("other_tool", webhook())
    with tools.tenant.tx():
        stolen = CustomTool.objects.get(name=NAME).secrets
        tool = CustomTool.objects.get(name="other_tool")
        tool.secrets = stolen
        with pytest.raises(crypto.WrongSecret):
            read_secrets(tool)
        assert secret_names(tool) == []


def test_no_endpoint_returns_a_secret(tools: Tools, api: Client) -> None:
    secret = tools.save(NAME, webhook()).signing_secret
    assert secret
    with tools.tenant.tx():
        set_secret_headers(CustomTool.objects.get(), {"X-Key": "canary-header"})
    for address in (f"custom-tools/{NAME}", "custom-tools", "tools", f"custom-tools/{NAME}/versions", "attributes"):
        text = api.get(f"/api/v1/{address}").content.decode()
        assert NAME in text
        assert secret not in text
        assert "canary-header" not in text


@pytest.mark.parametrize("is_saved", [True, False])
def test_a_new_secret_survives_a_concurrent_save(tools: Tools, is_saved: bool) -> None:
    """It is shown only once, so losing it to a concurrent save would be final."""
    tools.save(NAME, webhook())
    project = tools.tenant.project

    def rotate() -> str:
        with tools.tenant.tx():
            return rotate_signing_secret(service.get(project, NAME))

    with meanwhile("tools_customtool", rotate) as rotated, tools.tenant.tx():
        if is_saved:
            service.disable(project, NAME)
        else:
            set_secret_headers(service.get(project, NAME), {"X-Key": "canary"})
    assert read(tools).signing[0] == rotated[0].result()


@pytest.fixture
def with_header(tools: Tools) -> Tools:
    """A webhook with a secret header for its server."""
    tools.save(NAME, webhook())
    with tools.tenant.tx():
        set_secret_headers(CustomTool.objects.get(), {"X-Api-Key": "canary"})
    return tools


@pytest.mark.parametrize(
    "url",
    [
        "https://attacker.example/action",
        "http://api.example.com/action",
        "https://api.example.com:8443/action",
        "https://api.example.com.attacker.example/action",
    ],
)
def test_secret_headers_do_not_follow_the_address_to_another_server(with_header: Tools, url: str) -> None:
    """Whoever may change the address could read them there. The save says which are gone."""
    saved = with_header.save(NAME, webhook(url=url))
    assert (saved.removed_headers, saved.warnings[0].path) == (("X-Api-Key",), "action.options.url")
    assert read(with_header).for_url(url).headers == {}
    assert secret_names(with_header.row(NAME)) == []


def test_secret_headers_are_gone_after_a_detour_over_another_action(with_header: Tools) -> None:
    with_header.save(NAME, event())
    with_header.save(NAME, webhook(url="https://attacker.example/action"))
    assert read(with_header).headers == {}


def test_secret_headers_stay_while_the_server_stays(with_header: Tools) -> None:
    saved = with_header.save(NAME, webhook(url="https://API.example.com:443/other"))
    assert (saved.removed_headers, read(with_header).headers) == ((), {"X-Api-Key": "canary"})


def test_headers_of_a_new_server_are_not_sent_to_the_old_one(with_header: Tools) -> None:
    """An effect planned with the older version has the older address."""
    with_header.save(NAME, webhook(url="https://new.example/action"))
    with with_header.tenant.tx():
        set_secret_headers(CustomTool.objects.get(), {"X-Api-Key": "new"})
    secrets_now = read(with_header)
    assert secrets_now.for_url("https://api.example.com/action").headers == {}
    assert secrets_now.for_url("https://new.example/else").headers == {"X-Api-Key": "new"}


def test_headers_stored_without_a_server_belong_to_the_saved_address(with_header: Tools) -> None:
    """Rows written before headers were bound."""
    with with_header.tenant.tx():
        row = CustomTool.objects.get()
        custom_secrets._write(row, {"signing": [], "headers": {"X-Api-Key": "canary"}})
    assert read(with_header).for_url("https://api.example.com/action").headers == {"X-Api-Key": "canary"}
    with_header.save(NAME, webhook(url="https://attacker.example/action"))
    assert read(with_header).headers == {}
