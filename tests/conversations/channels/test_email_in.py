"""E-mails that arrive by Postmark's and Mailgun's webhooks."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from base64 import b64encode
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client

from conversations.channels.mail.message import CUT
from conversations.models import Chat, Conversation, DeliveredFile, Delivery, Persona, PersonaField
from conversations.models.persona import Strength
from projects.api.body_limit import MAIL_LIMIT
from projects.models import Source
from tests.conversations.channels.mailbox import ADDRESS, ANNA, PASSWORD, Mailbox, attachment, sign
from tests.processes import ForkServer

OF_ANNA = {"headers": [["DKIM-Signature", "v=1; a=rsa-sha256; d=example.org; s=one"]]}


@pytest.fixture
def mailgun(mailbox: Mailbox) -> Mailbox:
    mailbox.connect("mailgun")
    return mailbox


@pytest.mark.requirement("T01")
def test_an_email_is_a_message_in_a_conversation_of_its_address(mailbox: Mailbox) -> None:
    mailbox.write("Do you have a table?", subject="A table")
    mailbox.write("For two.", subject="Another matter")
    [conversation] = mailbox.rows(Conversation)
    assert conversation.channel == "email"
    assert mailbox.words() == ["A table\n\nDo you have a table?", "Another matter\n\nFor two."]
    assert [one.external_id for one in mailbox.rows(Chat)] == [ANNA]


def test_a_repeated_email_is_stored_once(mailbox: Mailbox) -> None:
    mail = mailbox.mail()
    assert [mailbox.post(mail).status_code for _ in range(3)] == [200] * 3
    assert mailbox.stored() == (1, 1)


@pytest.mark.parametrize("password", ["wrong", "", None])
def test_a_wrong_password_stores_nothing(mailbox: Mailbox, password: str | None) -> None:
    answer = mailbox.post(mailbox.mail(), password=password)
    assert (answer.status_code, mailbox.rows(Delivery)) == (401, [])


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"Headers": 1}', b"\xff\xfe", b"[" * 100_000])
def test_a_malformed_webhook_is_refused_in_a_sentence(mailbox: Mailbox, body: bytes) -> None:
    answer = mailbox.post(body)
    assert (answer.status_code, mailbox.rows(Delivery)) == (422, [])
    assert answer.json()["error"]["message"].endswith(".")


@pytest.mark.parametrize("files", [(), ("menu.pdf",)], ids=["urlencoded", "multipart"])
def test_mailguns_form_is_an_email(mailgun: Mailbox, files: tuple[str, ...]) -> None:
    answer = mailgun.post_form(mailgun.form("A table?"), files=[attachment(name) for name in files])
    assert answer.status_code == 200, answer.content
    named = "".join(f"\n[File: {name}]" for name in files)
    assert mailgun.words() == [f"A table\n\nA table?{named}"]


def test_mailguns_urlencoded_form_is_an_email(mailgun: Mailbox) -> None:
    body = urlencode(mailgun.form("A table?"))
    answer = Client().post(mailgun.path, body, content_type="application/x-www-form-urlencoded")
    assert (answer.status_code, mailgun.words()) == (200, ["A table\n\nA table?"])


@pytest.mark.parametrize(
    "changes",
    [sign(key="wrong"), {"signature": ""}, {"timestamp": "x"}, {"token": "another"}, {"timestamp": "1" * 400}],
    ids=["forged", "unsigned", "no time", "another token", "a long time"],
)
def test_a_forged_form_stores_nothing(mailgun: Mailbox, changes: dict[str, str]) -> None:
    answer = mailgun.post_form({**mailgun.form(), **changes})
    assert (answer.status_code, mailgun.rows(Delivery)) == (401, [])


@pytest.mark.parametrize("age", [3_600, -3_600])
def test_an_old_signature_stores_nothing(mailgun: Mailbox, age: float) -> None:
    answer = mailgun.post_form({**mailgun.form(), **sign(age=age)})
    assert (answer.status_code, mailgun.rows(Delivery)) == (401, [])


def test_a_signature_brings_one_email_only(mailgun: Mailbox) -> None:
    signed = sign()
    first = {**mailgun.form("Yes"), **signed}
    assert [mailgun.post_form(first).status_code for _ in range(2)] == [200, 200]
    answer = mailgun.post_form({**mailgun.form("No"), **signed})
    assert (answer.status_code, mailgun.words()) == (401, ["A table\n\nYes"])


def test_postmarks_form_is_not_taken_for_mailguns(mailgun: Mailbox) -> None:
    assert mailgun.post(mailgun.mail()).status_code == 401


def test_a_proven_address_is_the_customer_who_has_it(mailbox: Mailbox) -> None:
    persona = {"external_id": "guest-1", "email": ANNA}
    body = json.dumps({"channel": "chat", "persona": persona})
    mailbox.api.post("/api/v1/conversations", body, content_type="application/json")
    mailbox.write()
    assert [one.external_id for one in mailbox.rows(Persona)] == ["guest-1"]


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("X-Spam-Tests", "DKIM_SIGNED,DKIM_VALID,SPF_PASS")],
        [("X-Spam-Tests", "DKIM_VALID_AU"), ("X-Spam-Tests", "SPF_FAIL")],
        [("Received-SPF", "Pass (sender SPF authorized) identity=mailfrom; envelope-from=me@robber.example")],
        [("Received-SPF", f"Fail identity=mailfrom; envelope-from={ANNA}")],
    ],
    ids=["nothing", "another signer", "two results", "another envelope", "failed"],
)
def test_an_unverified_address_joins_no_customer(mailbox: Mailbox, headers: Any) -> None:
    mailbox.write()
    mailbox.write(headers=headers, is_proven=False)
    unproven = f"{ANNA} (unproven)"
    assert [one.external_id for one in mailbox.rows(Chat)] == [ANNA, unproven]
    assert [one.external_id for one in mailbox.rows(Persona)] == [f"contact:{ANNA}", f"email:{unproven}"]
    assert len(mailbox.rows(PersonaField, key="email")) == 1


@pytest.mark.parametrize(
    ("changes", "is_proven"),
    [
        ({"X-Mailgun-Spf": "Pass"}, True),
        ({"X-Mailgun-Spf": "Pass", "sender": "me@robber.example"}, False),
        ({"X-Mailgun-Dkim-Check-Result": "Pass"}, True),
        ({"X-Mailgun-Dkim-Check-Result": "Fail"}, False),
        ({"X-Mailgun-Spf": ["Pass", "Fail"]}, False),
    ],
)
def test_mailguns_check_counts_for_the_senders_domain(
    mailgun: Mailbox, changes: dict[str, Any], is_proven: bool
) -> None:
    mailgun.post_form({**mailgun.form(**OF_ANNA), **changes})
    assert [one.external_id for one in mailgun.rows(Chat)] == [ANNA if is_proven else f"{ANNA} (unproven)"]


def test_a_proven_address_is_observed_and_never_given(mailbox: Mailbox) -> None:
    mailbox.write()
    [email] = mailbox.rows(PersonaField, key="email")
    assert (email.value, email.strength) == (ANNA, Strength.STATED)


def test_the_whole_email_is_kept_and_the_quote_isnt_read(mailbox: Mailbox) -> None:
    text = "Yes, please.\n\nOn Thu, 5 Nov 2026 at 09:12, Nello <hello@nello.example> wrote:\n> A table for two?\n"
    mailbox.write(text, subject="Re: A table")
    assert mailbox.words() == ["Yes, please."]
    [delivery] = mailbox.rows(Delivery)
    assert delivery.body["text"] == text


def test_html_is_read_as_text(mailbox: Mailbox) -> None:
    html = "<html><head><title>x</title></head><body><p>A <b>table</b>?</p><script>steal()</script></body></html>"
    mailbox.write("", HtmlBody=html)
    assert mailbox.words() == ["A table\n\nA table?"]


def test_files_are_named(mailbox: Mailbox) -> None:
    file = {"Name": "me\r\nnu.pdf", "Content": "MA==", "ContentType": "application/pdf", "ContentLength": 1}
    mailbox.write("See the file.", subject="Re: A table", Attachments=[file])
    assert mailbox.words() == ["See the file.\n[File: menu.pdf]"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"text": "a\x00b", "subject": "Re: x\x00"}, "ab"),
        ({"text": "caf\ufffd \ud800", "subject": "Re: x"}, "caf\ufffd ?"),
        ({"text": "", "subject": ""}, "[An empty e-mail.]"),
        ({"text": "", "subject": "", "HtmlBody": "<div>" * 50_000 + "deep"}, "deep"),
    ],
    ids=["NUL", "surrogate", "empty", "nested"],
)
def test_a_hostile_email_is_stored_as_text(mailbox: Mailbox, changes: dict[str, Any], said: str) -> None:
    mailbox.write(**changes)
    assert mailbox.words() == [said]


BAD = ("\x00", "\ud800", "\n", "\u2028", "x" * 3_000, "<", "=?utf-8?q?=00?=", None, 1, [], {})
HEADERS = ("Message-ID", "References", "In-Reply-To", "Auto-Submitted", "Content-Type", "Received-SPF", "X-Spam-Tests")


def test_no_field_of_postmarks_breaks_the_webhook(mailbox: Mailbox) -> None:
    names = [name for name in mailbox.mail() if name != "Headers"]
    mails = [{**mailbox.mail(), name: bad} for name in names for bad in BAD]
    mails += [mailbox.mail(headers=[(name, bad)], is_proven=False) for name in HEADERS for bad in BAD]
    mails += [mailbox.mail(Attachments=[{"Name": bad, "ContentType": bad, "Content": bad}]) for bad in BAD]
    mails += [{**mailbox.mail(), "Headers": [bad]} for bad in BAD]
    assert {mailbox.post(mail).status_code for mail in mails} == {200}


def test_no_field_of_mailguns_breaks_the_webhook(mailgun: Mailbox) -> None:
    bad = [one.encode("utf-8", "surrogatepass").decode("utf-8", "replace") for one in BAD if isinstance(one, str)]
    names = [name for name in mailgun.form() if name not in ("timestamp", "token", "signature")]
    statuses = {mailgun.post_form({**mailgun.form(), name: one}).status_code for name in names for one in bad}
    assert statuses <= {200, 422}


def test_a_long_email_says_that_it_is_longer(mailbox: Mailbox) -> None:
    mailbox.write("word " * 100_000, subject="Re: x")
    [words] = mailbox.words()
    assert words.endswith("[The e-mail is longer.]")
    assert len(words) < 8_000


def test_a_file_that_is_too_large_is_named_and_dropped(mailbox: Mailbox) -> None:
    file = {"Name": "film.mp4", "Content": "A" * 20_000_000, "ContentType": "video/mp4", "ContentLength": 15_000_000}
    mailbox.write("Look.", subject="Re: x", Attachments=[file])
    film = "[File: film.mp4, which can’t be read here: it’s too large.]"
    assert mailbox.words() == [f"Look.\n{film}"]
    [delivery] = mailbox.rows(Delivery)
    assert len(str(delivery.body)) < 1_000
    mailbox.connect("mailgun")
    answer = mailbox.post_form(mailbox.form("Look."), files=[attachment("film.mp4", b"0" * 20_000_000)])
    assert (answer.status_code, mailbox.words()[1]) == (200, f"A table\n\nLook.\n{film}")
    assert mailbox.rows(DeliveredFile) == []


def test_a_thousand_recipients_are_one_email(mailbox: Mailbox) -> None:
    others = [{"Email": f"guest{number}@example.org", "Name": "", "MailboxHash": ""} for number in range(1_000)]
    mailbox.write(ToFull=others, To=", ".join(one["Email"] for one in others))
    assert mailbox.stored() == (1, 1)


def test_an_email_without_an_id_is_stored_once(mailbox: Mailbox) -> None:
    mail = mailbox.mail()
    mail["Headers"] = []
    assert [mailbox.post(mail).status_code for _ in range(2)] == [200, 200]
    assert len(mailbox.words()) == 1


ODD = ["a\x00@example.org", "a\ud800@example.org", "a@ex\ud800.org", "a@ex\x00.org", "a\n@example.org", "a@b\u2028.org"]


@pytest.mark.parametrize("sender", ["", "anna", "a@b@c", "x" * 300 + "@example.org", '"a b"@example.org', *ODD])
def test_an_email_without_a_sender_makes_no_conversation(mailbox: Mailbox, sender: str) -> None:
    mailbox.write(sender=sender)
    assert mailbox.stored() == (0, 0)


def test_the_channel_shows_the_webhook_and_never_the_secret(mailbox: Mailbox) -> None:
    answer = mailbox.api.get("/api/v1/channels/email")
    shown = answer.json()
    assert (shown["state"], shown["address"], shown["problem"]) == ("connected", ADDRESS, "")
    assert "PASSWORD@" in shown["webhook"]
    assert PASSWORD not in answer.content.decode()


def test_without_a_mail_server_the_channel_says_what_is_missing(mailbox: Mailbox) -> None:
    with mailbox.tenant.tx():
        Source.objects.filter(kind="smtp").delete()
    assert "No mail server" in mailbox.api.get("/api/v1/channels/email").json()["problem"]


def test_an_email_over_the_limit_is_stored_without_its_files(mailbox: Mailbox, processes: ForkServer) -> None:
    """A provider would deliver it again in vain, and then never."""
    _, base = processes.web()
    file = {"Name": "film.mp4", "Content": "A" * (MAIL_LIMIT + 9), "ContentType": "video/mp4", "ContentLength": 1}
    raw = json.dumps(mailbox.mail("Look.", subject="Re: x", Attachments=[file])).encode()
    sign_in = b64encode(f"makegood:{PASSWORD}".encode()).decode()
    headers = {"Content-Type": "application/json", "Authorization": f"Basic {sign_in}"}
    assert post(f"{base}{mailbox.path}", raw, headers) == 200
    mailbox.connect("mailgun")
    kind, form = encode_form(mailbox.form("And this."), file="clip.mp4", contents=bytes(MAIL_LIMIT))
    assert post(f"{base}{mailbox.path}", form, {"Content-Type": kind}) == 200
    assert mailbox.words() == [f"Look.\n\n{CUT}", f"A table\n\nAnd this.\n\n{CUT}"]


def test_a_web_process_takes_long_emails(mailbox: Mailbox, processes: ForkServer) -> None:
    """Over HTTP, past the limit of other requests."""
    _, base = processes.web()
    file = {"Name": "film.mp4", "Content": "A" * 8_000_000, "ContentType": "video/mp4", "ContentLength": 6_000_000}
    raw = json.dumps(mailbox.mail("Look.", subject="Re: x", Attachments=[file])).encode()
    sign_in = b64encode(f"makegood:{PASSWORD}".encode()).decode()
    headers = {"Content-Type": "application/json", "Authorization": f"Basic {sign_in}"}
    assert post(f"{base}{mailbox.path}", raw, headers) == 200
    assert post(f"{base}{mailbox.path}", raw, {**headers, "Authorization": "Basic eDp5"}) == 401
    mailbox.connect("mailgun")
    kind, form = encode_form(mailbox.form("And this."), file="clip.mp4", contents=b"0" * 8_000_000)
    assert post(f"{base}{mailbox.path}", form, {"Content-Type": kind}) == 200
    assert mailbox.words() == ["Look.\n[File: film.mp4]", "A table\n\nAnd this.\n[File: clip.mp4]"]


def encode_form(fields: dict[str, Any], *, file: str, contents: bytes) -> tuple[str, bytes]:
    """The fields and a file as multipart/form-data."""
    parts = [
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in fields.items()
    ]
    head = f'--b\r\nContent-Disposition: form-data; name="attachment-1"; filename="{file}"\r\n\r\n'
    return "multipart/form-data; boundary=b", "".join((*parts, head)).encode() + contents + b"\r\n--b--\r\n"


def post(url: str, body: bytes, headers: dict[str, str]) -> int:
    request = urllib.request.Request(url, data=body, headers=headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
