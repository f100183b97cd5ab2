"""Replies by e-mail: in their thread, sent once by the project's mail server, and never to a robot."""

from __future__ import annotations

from typing import Any

import pytest

from conversations.channels import chats
from conversations.channels.mail.enclosed import enclosable
from conversations.channels.mail.message import MESSAGE_ID, REPORT_WITH_PATH, UNPROVEN_REPORT
from conversations.common.payloads import StoredAttachment
from conversations.handover.operators import answer, take_over
from conversations.models import Chat, ConsentChange, Conversation, Receipt
from tests.conftest import member_of
from tests.console.pages.conftest import add_effect, add_promise
from tests.conversations.channels.files import PDF, answer_with
from tests.conversations.channels.mailbox import ADDRESS, ANNA, Mailbox
from tests.processes import ScriptedModel, until
from tests.tools.messaging.mail_server import MailServer
from tools.models import Effect, Promise, PromiseState
from tools.services.messaging.bounce_proof import PROOF_HEADER, bounce_proof, is_proof

pytestmark = pytest.mark.standing_worker


def test_the_reply_is_an_email_in_the_thread(mailbox: Mailbox, worker: object, model: ScriptedModel) -> None:
    model.script("reply", text="Yes, at eight.")
    mailbox.write(id="<first@example.org>", headers=[("References", "<older@example.org>")])
    [sent] = mailbox.until_sent()
    assert (sent["To"], sent["From"], sent["Reply-To"]) == (ANNA, ADDRESS, ADDRESS)
    assert sent["Subject"] == "Re: A table"
    assert sent["In-Reply-To"] == "<first@example.org>"
    assert sent["References"].split() == ["<older@example.org>", "<first@example.org>"]
    assert sent["Auto-Submitted"] == "auto-replied"
    assert sent.get_content().strip() == "Yes, at eight."
    [receipt] = mailbox.rows(Receipt)
    assert (receipt.external_id, receipt.state) == (sent["Message-ID"], "sent")
    [effect] = mailbox.rows(Effect, kind="channel_message")
    assert (effect.state, effect.attempts) == ("done", 1)


def test_a_long_message_id_is_written_as_it_is(mailbox: Mailbox, worker: object, model: ScriptedModel) -> None:
    long = f"<{'x' * 180}@example.org>"
    mailbox.write(id=long)
    mailbox.until_sent()
    assert f"In-Reply-To: {long}\r\n".encode() in mailbox.received[0].raw


@pytest.mark.parametrize(
    "subject", ["Hi\r\nBcc: everybody@example.org", "Hi\nBcc: x@example.org", "Hi\u2028Bcc: x", "Hi\x00\x0bBcc: x"]
)
def test_a_subject_adds_no_header(mailbox: Mailbox, worker: object, model: ScriptedModel, subject: str) -> None:
    mailbox.write(subject=subject)
    [sent] = mailbox.until_sent()
    assert sent["Bcc"] is None
    assert sent["Subject"].startswith("Re: Hi Bcc:")
    assert mailbox.received[0].recipients == [ANNA]


def test_a_message_id_adds_no_header(mailbox: Mailbox, worker: object, model: ScriptedModel) -> None:
    headers = [("References", "<a@b>\r\nBcc: x@example.org <c@d>"), ("In-Reply-To", "<e\u00e9@f> <g h@i>")]
    mailbox.write(id="<x@y>\r\nBcc: x@example.org", headers=headers)
    [sent] = mailbox.until_sent()
    assert sent["Bcc"] is None
    assert sent["References"].split() == ["<a@b>", "<c@d>", "<x@y>"]


def test_a_person_answers_by_hand(mailbox: Mailbox, worker: object, model: ScriptedModel) -> None:
    mailbox.write()
    mailbox.until_sent()
    [conversation] = mailbox.rows(Conversation)
    colleague = member_of(mailbox.tenant, "operator")
    with mailbox.tenant.tx():
        take_over(conversation.pk, by=colleague)
        answer(conversation.pk, "I am Carla.", by=colleague)
    sent = mailbox.until_sent(2)
    assert [(one.get_content().strip(), one["Auto-Submitted"]) for one in sent[1:]] == [("I am Carla.", None)]


def test_the_files_of_an_answer_are_in_its_email(mailbox: Mailbox, worker: object, model: ScriptedModel) -> None:
    mailbox.write()
    mailbox.until_sent()
    answer_with(mailbox.tenant, PDF, "Grüße".encode(), name="Menü")
    sent = mailbox.until_sent(2)[1]
    assert "Here it is." in sent.get_body().get_content()
    enclosed = [
        (one.get_filename(), one.get_content_type(), one.get_payload(decode=True)) for one in sent.iter_attachments()
    ]
    assert enclosed == [("Menü.pdf", "application/pdf", PDF), ("Menü.txt", "text/plain", "Grüße".encode())]
    assert len(mailbox.rows(Receipt)) == 2


@pytest.mark.parametrize("announces", [True, False])
def test_files_that_the_mail_server_refuses_are_links(
    mailbox: Mailbox, worker: object, model: ScriptedModel, announces: bool
) -> None:
    mailbox.write()
    mailbox.until_sent()
    with MailServer(most_bytes=20_000 if announces else 33_554_432) as small:
        if not announces:
            small.post.at_message = "552 5.3.4 Too big"
        mailbox.connect_smtp(port=small.port)
        answer_with(mailbox.tenant, PDF * 4_000)
        if announces:
            until(lambda: len(small.post.messages) == 1, what="the e-mail with links")
            [sent] = [one.message for one in small.post.messages]
            assert list(sent.iter_attachments()) == []
            assert "menu.pdf: http" in sent.get_content()
            mailbox.until_sent(2)
        else:
            until(lambda: [state for state, _ in mailbox.receipts()].count("failed") == 1, what="the failure")
            assert len(small.post.messages) == 2


def test_files_over_what_an_email_holds_are_links() -> None:
    files: list[StoredAttachment] = [
        {"id": str(number), "name": "a", "content_type": "application/pdf", "size": size}
        for number, size in enumerate((9_000_000, 10_000_000, 8_000_000, 2_000_000))
    ]
    assert [one["id"] for one in enclosable(files)] == ["0", "2"]


def test_an_answer_belongs_to_the_thread_of_what_it_answers(
    mailbox: Mailbox, worker: object, model: ScriptedModel
) -> None:
    mailbox.write()
    [sent] = mailbox.until_sent()
    reply = [("In-Reply-To", sent["Message-ID"])]
    mailbox.write("Yes.", sender="anna.private@example.net", subject="Re: A table", headers=reply, is_proven=False)
    assert mailbox.words()[1] == "[anna.private@example.net (unproven) wrote:] Yes."
    assert len(mailbox.rows(Conversation)) == 1
    mailbox.until_sent(2)
    assert [one.recipients for one in mailbox.received] == [[ANNA], [ANNA]]


def test_a_strangers_message_id_opens_no_thread(mailbox: Mailbox) -> None:
    mailbox.write()
    mailbox.write(sender="me@robber.example", headers=[("In-Reply-To", "<mail-1@example.org>")])
    assert len(mailbox.rows(Conversation)) == 2


ROBOTS = [
    [("Auto-Submitted", "auto-replied")],
    [("auto-submitted", "auto-generated; type=vacation")],
    [("Precedence", "bulk")],
    [("Precedence", "auto_reply")],
    [("X-Autoreply", "yes")],
    [("X-Auto-Response-Suppress", "All")],
    [("Return-Path", "<>")],
]


@pytest.mark.parametrize("headers", ROBOTS)
def test_an_automatic_email_is_stored_and_not_answered(mailbox: Mailbox, headers: Any) -> None:
    mailbox.write("I am on holiday.", headers=headers)
    assert mailbox.deliveries() == [("stored", "An automatic e-mail isn’t answered.")]
    assert mailbox.stored() == (1, 1)


@pytest.mark.parametrize("sender", ["no-reply@shop.example", "noreply+1@shop.example", "bounce@shop.example"])
def test_an_address_that_takes_no_answer_gets_none(mailbox: Mailbox, sender: str) -> None:
    mailbox.write(sender=sender)
    assert [result for result, _ in mailbox.deliveries()] == ["stored"]


@pytest.mark.parametrize(
    "headers", [[("List-Id", "<news.example>")], [("Precedence", "list")], [("List-Unsubscribe", "<mailto:x@y>")]]
)
def test_a_mailing_list_makes_no_conversation(mailbox: Mailbox, headers: Any) -> None:
    mailbox.write(headers=headers)
    assert (mailbox.stored(), [one[0] for one in mailbox.deliveries()]) == ((0, 0), ["ignored"])


def test_the_own_address_is_no_customer(mailbox: Mailbox) -> None:
    mailbox.write(sender=ADDRESS.upper())
    assert mailbox.stored() == (0, 0)


def test_two_agents_dont_answer_each_other(mailbox: Mailbox, worker: object, model: ScriptedModel) -> None:
    mailbox.write()
    [sent] = mailbox.until_sent()
    headers = [(name, str(value)) for name, value in sent.items() if name != "Message-ID"]
    mailbox.write(sent.get_content(), sender="agent@other.example", headers=headers, id=str(sent["Message-ID"]))
    assert [result for result, _ in mailbox.deliveries()] == ["answered", "stored"]


def test_a_robot_that_doesnt_say_so_is_left_to_a_person(mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chats, "MOST_MAILS_A_DAY", 3)
    for _ in range(5):
        mailbox.write("Thank you for your e-mail.")
    assert [result for result, _ in mailbox.deliveries()] == ["answered"] * 3 + ["stored"] * 2
    [conversation] = mailbox.rows(Conversation)
    assert conversation.flag == chats.FLOOD
    monkeypatch.setattr(chats, "MOST_MAILS_A_DAY", 30)
    mailbox.write("Thank you for your e-mail.")
    assert mailbox.deliveries()[-1] == ("stored", chats.FLOOD)


def test_a_bounce_fails_the_receipt(mailbox: Mailbox, worker: object, model: ScriptedModel) -> None:
    mailbox.write()
    [sent] = mailbox.until_sent()
    bounce(mailbox, sent["Message-ID"])
    assert mailbox.receipts() == [("failed", NO_SUCH_USER)]
    assert len(mailbox.rows(Conversation)) == 1


@pytest.mark.parametrize(("evidence", "becomes"), [("effect", "broken"), ("person", "kept")])
def test_a_bounce_breaks_the_promise_that_its_email_had_kept(mailbox: Mailbox, evidence: str, becomes: str) -> None:
    """A mail server takes an e-mail before it knows whether the address exists. What a person says stands."""
    mailbox.write()
    [conversation] = mailbox.rows(Conversation)
    email = {"tool": "send_email_tool", "kind": "email", "effect_key": "ab" * 32}
    effect = add_effect(mailbox.tenant, conversation, **email)
    add_promise(mailbox.tenant, conversation, effect=effect, state=PromiseState.KEPT, evidence=evidence)
    bounce(mailbox, f"<{effect.effect_key}@nello.example>")
    [effect] = mailbox.rows(Effect, kind="email")
    [promise] = mailbox.rows(Promise)
    assert (effect.state, effect.receipt, promise.state) == ("failed", "failed", becomes)
    assert promise.reason == (NO_SUCH_USER if becomes == "broken" else "")


def kept_by_email(mailbox: Mailbox) -> str:
    """A promise that an e-mail has kept, and the e-mail's Message-ID."""
    mailbox.write()
    [conversation] = mailbox.rows(Conversation)
    effect = add_effect(mailbox.tenant, conversation, tool="send_email_tool", kind="email", effect_key="ab" * 32)
    add_promise(mailbox.tenant, conversation, effect=effect, state=PromiseState.KEPT, evidence="effect")
    return f"<{effect.effect_key}@nello.example>"


def test_a_bounce_that_nothing_proves_asks_a_person(mailbox: Mailbox) -> None:
    """Everyone in a thread knows the Message-ID, and can write what looks like a mail server's report."""
    bounce(mailbox, kept_by_email(mailbox), proof="0" * 40)
    [effect], [promise] = mailbox.rows(Effect, kind="email"), mailbox.rows(Promise)
    assert (effect.state, promise.state, promise.owner, promise.closed_at) == ("unknown", "open", "staff", None)
    assert UNPROVEN_REPORT in effect.error


def test_a_bounce_with_a_return_path_changes_nothing(mailbox: Mailbox) -> None:
    bounce(mailbox, kept_by_email(mailbox), path="<robber@mail.example>")
    [effect], [promise] = mailbox.rows(Effect, kind="email"), mailbox.rows(Promise)
    assert (effect.state, promise.state) == ("done", "kept")
    assert mailbox.deliveries()[-1] == ("ignored", REPORT_WITH_PATH)


def test_the_sent_email_carries_its_proof(mailbox: Mailbox, worker: object, model: ScriptedModel) -> None:
    mailbox.write()
    [sent] = mailbox.until_sent()
    assert is_proof(sent[PROOF_HEADER], sent["Message-ID"][1:65])


NO_SUCH_USER = "The recipient’s mail server didn’t take the e-mail. 550 5.1.1 No such user"


def bounce(mailbox: Mailbox, message_id: str, *, proof: str = "", path: str = "<>") -> None:
    report = "Action: failed\nDiagnostic-Code: smtp; 550 5.1.1 No such user\n"
    returned = (
        f"Message-ID: {message_id}\r\n{PROOF_HEADER}: {proof or bounce_proof(message_id[1:65])}\r\nSubject: A table"
    )
    files = [
        {"Name": "status", "Content": encoded(report), "ContentType": "message/delivery-status"},
        {"Name": "m.eml", "Content": encoded(returned), "ContentType": "text/rfc822-headers"},
    ]
    headers = [("Return-Path", path), ("Content-Type", "multipart/report; report-type=delivery-status")]
    mailbox.write("Sorry.", sender="MAILER-DAEMON@example.org", headers=headers, Attachments=files)


def test_a_delay_fails_nothing(mailbox: Mailbox, worker: object, model: ScriptedModel) -> None:
    mailbox.write()
    [sent] = mailbox.until_sent()
    status = {"Name": "s", "Content": encoded("Action: delayed"), "ContentType": "message/delivery-status"}
    headers = [("In-Reply-To", sent["Message-ID"])]
    mailbox.write("Later.", sender="mailer-daemon@example.org", headers=headers, Attachments=[status])
    assert [state for state, _ in mailbox.receipts()] == ["sent"]
    assert mailbox.deliveries()[1] == ("ignored", "A mail server reports on an e-mail.")


@pytest.mark.parametrize(
    "mail",
    [
        {"text": "Unsubscribe", "subject": "Re: A table"},
        {"text": "", "subject": "unsubscribe"},
        {"text": "STOP.\n\n> A table?", "subject": "Re: A table"},
    ],
)
def test_unsubscribe_is_obeyed_before_any_model(
    mailbox: Mailbox, worker: object, model: ScriptedModel, mail: dict[str, str]
) -> None:
    mailbox.write(**mail)
    [sent] = mailbox.until_sent()
    assert "START" in sent.get_content()
    [chat] = mailbox.rows(Chat)
    assert chat.opted_out_at is not None
    [change] = mailbox.rows(ConsentChange)
    assert (change.kind, change.is_given) == ("email", False)
    mailbox.write("Do you have a table?")
    assert mailbox.deliveries()[-1][0] == "stored"
    assert model.requests("reply") == []


@pytest.mark.parametrize("text", ["Help", "Cancel", "stop it, I want to unsubscribe", "END"])
def test_other_words_are_the_agents_to_read(mailbox: Mailbox, text: str) -> None:
    mailbox.write(text)
    assert mailbox.deliveries() == [("answered", "")]


def test_without_a_mail_server_the_message_fails_in_words(
    mailbox: Mailbox, worker: object, model: ScriptedModel
) -> None:
    mailbox.api.delete("/api/v1/channels/email")
    mailbox.connect()
    from projects.models import Source

    with mailbox.tenant.tx():
        Source.objects.filter(kind="smtp").delete()
    mailbox.write()
    until(lambda: [state for state, _ in mailbox.receipts()] == ["failed"])
    assert "No mail server" in mailbox.receipts()[0][1]


def test_references_are_message_ids() -> None:
    assert MESSAGE_ID.findall("<a@b> c <d e@f> <g@h>\r\n\t<\u00e9@i>") == ["<a@b>", "<g@h>"]


def encoded(text: str) -> str:
    from base64 import b64encode

    return b64encode(text.encode()).decode()
