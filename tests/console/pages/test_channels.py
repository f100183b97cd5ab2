"""Pages of messengers: connect, a live check, a test, and the last deliveries."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from tests.conversations.channels.conftest import Bot, bot, mailbox, telegram_server  # noqa: F401 - fixtures
from tests.conversations.channels.mailbox import ANNA, Mailbox
from tests.conversations.channels.mailbox import PASSWORD as WEBHOOK_PASSWORD
from tests.conversations.channels.telegram_server import TOKEN
from tests.processes import free_port


@pytest.fixture
def page(bot: Bot) -> Any:  # noqa: F811
    client = Client()
    client.force_login(bot.tenant.owner)
    address = f"/p/{bot.tenant.project.slug}/agent/integrations/channels/telegram"
    return lambda action="", **form: (client.post if form else client.get)(f"{address}{action}", form)


def test_the_page_lists_what_was_delivered(bot: Bot, page: Any) -> None:  # noqa: F811
    bot.write("Do you have a table?")
    text = page().content.decode()
    assert "Do you have a table?" in text
    assert bot.telegram.webhook["url"] in text
    assert "canary-of-the-bot" not in text


def test_the_check_asks_telegram(bot: Bot, page: Any) -> None:  # noqa: F811
    assert "webhook set, 0 pending" in page("/check", go="1").content.decode()
    bot.telegram.webhook = {"url": "https://elsewhere.example"}
    assert "another address" in page("/check", go="1").content.decode()


def test_a_test_goes_to_the_newest_chat(bot: Bot, page: Any) -> None:  # noqa: F811
    assert "Nobody has written" in page("/send", go="1").content.decode()
    bot.write()
    assert "Sent to the newest chat" in page("/send", go="1").content.decode()
    assert [one["chat_id"] for one in bot.telegram.of("sendMessage")] == [77]


def test_connecting_again_sets_the_webhook(bot: Bot, page: Any) -> None:  # noqa: F811
    form = {"bot_token": TOKEN, "settings.base_url": bot.server.url}
    assert page("", **form).status_code == 200
    assert len(bot.telegram.of("setWebhook")) == 2


def test_the_list_of_integrations_calls_no_channel_connected_that_failed(bot: Bot, page: Any) -> None:  # noqa: F811
    integrations = f"/p/{bot.tenant.project.slug}/agent/integrations"
    states = []
    for url in (bot.server.url, f"http://127.0.0.1:{free_port()}"):
        client = page("", **{"bot_token": TOKEN, "settings.base_url": url}).client
        kinds = {kind.name: state for kind, state in client.get(integrations).context["messengers"]}
        states.append(kinds["telegram"])
    assert states == ["connected", "failed"]


def test_a_wrong_address_is_named_at_its_field(bot: Bot, page: Any) -> None:  # noqa: F811
    answer = page("", **{"bot_token": TOKEN, "settings.base_url": "http://10.0.0.1"})
    assert (answer.status_code, "private network" in answer.content.decode()) == (422, True)


def test_disconnecting_withdraws_the_webhook(bot: Bot, page: Any) -> None:  # noqa: F811
    assert "Disconnected." in page("/end", go="1").content.decode()
    assert len(bot.telegram.of("deleteWebhook")) == 1
    assert bot.state()["state"] == "not_connected"


@pytest.fixture
def mail_page(mailbox: Mailbox) -> Any:  # noqa: F811
    client = Client()
    client.force_login(mailbox.tenant.owner)
    address = f"/p/{mailbox.tenant.project.slug}/agent/integrations/channels/email"
    return lambda action="", **form: (client.post if form else client.get)(f"{address}{action}", form)


def test_the_mailbox_shows_its_webhook_and_the_whole_email(mailbox: Mailbox, mail_page: Any) -> None:  # noqa: F811
    mailbox.write("Yes.\n\n> <b>A table?</b>", subject="Re: A table")
    text = mail_page().content.decode()
    assert f"makegood:PASSWORD@{mailbox.webhook_host}" in text
    assert "&gt; &lt;b&gt;A table?&lt;/b&gt;" in text
    assert WEBHOOK_PASSWORD not in text


def test_the_check_signs_in_to_the_mail_server(mailbox: Mailbox, mail_page: Any) -> None:  # noqa: F811
    assert "accepts the sign-in" in mail_page("/check", go="1").content.decode()
    assert mailbox.received == []
    mailbox.connect_smtp(port=free_port())
    assert "be reached" in mail_page("/check", go="1").content.decode()


def test_a_test_goes_to_the_newest_address(mailbox: Mailbox, mail_page: Any) -> None:  # noqa: F811
    mailbox.write()
    assert "Sent to the newest chat" in mail_page("/send", go="1").content.decode()
    assert [one.recipients for one in mailbox.received] == [[ANNA]]


def test_a_mailbox_is_connected_by_its_form(mailbox: Mailbox, mail_page: Any) -> None:  # noqa: F811
    mailbox.api.delete("/api/v1/channels/email")
    form = {"settings.provider": "mailgun", "settings.address": "Hello@Nello.example", "password": "a key"}
    assert mail_page("", **form).status_code == 200
    assert mailbox.state()["settings"]["address"] == "hello@nello.example"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"settings.address": "hello"}, "Enter an e-mail address like"),
        ({"settings.provider": "imap"}, "Enter the IMAP server and the user."),
        ({"settings.provider": "imap", "settings.host": "10.0.0.1", "settings.user": "a"}, "private network"),
        ({"password": ""}, "is required"),
    ],
)
def test_a_wrong_mailbox_is_refused(mailbox: Mailbox, mail_page: Any, changes: Any, said: str) -> None:  # noqa: F811
    mailbox.api.delete("/api/v1/channels/email")
    form = {"settings.provider": "mailgun", "settings.address": "hello@nello.example", "password": "a key", **changes}
    answer = mail_page("", **form)
    assert (answer.status_code, said in answer.content.decode()) == (422, True)
