"""Reading an e-mail: its own words, its parts, and who vouches for its sender."""

from __future__ import annotations

import pytest

from conversations.channels.mail.imap import _moment
from conversations.channels.mail.mailgun import read_mail
from conversations.channels.mail.mime import read_mime
from conversations.channels.mail.words import own_words, read_html
from conversations.channels.provider import FormFile, WebhookRequest


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Yes.\n> A table?", "Yes."),
        ("Yes.\r\n\r\nOn 5 Nov 2026, Nello wrote:\r\n> A table?\r\n>\r\n> Nello", "Yes."),
        ("Yes.\n\nAm 05.11.2026 um 09:12 schrieb Nello\n<hello@nello.example>:\n\n> Ein Tisch?", "Yes."),
        ("On 5 Nov 2026, Nello wrote:\n> A table?\n\nYes.", "Yes."),
        ("Yes.\n\n> A table?\n\nFor two.\n\n> When?\n\nAt eight.", "Yes.\n\nFor two.\n\nAt eight."),
        ("Yes.\n-- \nAnna Bianchi\n+39 333", "Yes."),
        ("These are my wishes:\n- a table\n- a window", "These are my wishes:\n- a table\n- a window"),
        ("My answer to this:\n> A table?\nYes.", "My answer to this:\nYes."),
        ("In 2025 I wrote this, which still holds:\nno fish", "In 2025 I wrote this, which still holds:\nno fish"),
        ("> A table?", "> A table?"),
        ("5 > 4", "5 > 4"),
        ("--\n" + "a line\n" * 40, "--\n" + "a line\n" * 39 + "a line"),
    ],
)
def test_quotes_and_signatures_are_left_out(text: str, words: str) -> None:
    assert own_words(text) == words


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>A&nbsp;table?</p><p>For&amp;two</p>", "A table?\nFor&two"),
        ("a<br>b<br/>c", "a\nb\nc"),
        ("<style>p{}</style><script>alert(1)</script><!-- no -->hi", "hi"),
        ("<div>Yes.</div><blockquote>A <b>table</b>?<br>When?</blockquote>", "Yes.\n> A table?\n> When?"),
        ("<scr<script>ipt>x</script>y", "ipt>xy"),
        ("5 < 6 <3", "5 < 6 <3"),
        ("<" * 400_000, "<" * 400_000),
        ("<!--" * 100_000, ""),
        ("<div " * 10_000, ""),
        ("</blockquote></p></p>x", "x"),
    ],
)
def test_html_is_text(html: str, text: str) -> None:
    assert read_html(html) == text


def test_parts_and_headers_are_decoded() -> None:
    raw = (
        b"From: =?utf-8?q?Anna_M=C3=BCller?= <Anna@Example.org>\r\nSubject: =?iso-8859-1?q?caf=E9?=\r\n"
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
        b"--b\r\nContent-Type: text/plain; charset=iso-8859-1\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n"
        b"Un caf=E9\r\n--b\r\nContent-Type: application/pdf\r\n"
        b"Content-Disposition: attachment; filename*=utf-8''men%C3%BC.pdf\r\n\r\nx\r\n--b--\r\n"
    )
    mail = read_mime(raw)
    assert (mail.sender, mail.name, mail.subject) == ("anna@example.org", "Anna M\u00fcller", "caf\u00e9")
    assert (mail.text.strip(), [one.name for one in mail.files]) == ("Un caf\u00e9", ["men\u00fc.pdf"])


@pytest.mark.parametrize("charset", ["zip", "punycode", "x-unknown", "unicode_escape", "hex", '"', "utf-16", "..."])
def test_a_bad_charset_is_read_somehow(charset: str) -> None:
    mail = read_mime(
        b"From: a@b.example\r\nContent-Type: text/plain; charset=" + charset.encode() + b"\r\n\r\nhello\xff"
    )
    assert mail.text


def nested(depth: int) -> bytes:
    heads = (f"Content-Type: multipart/mixed; boundary=b{number}\r\n\r\n--b{number}\r\n" for number in range(depth))
    return b"From: a@b.example\r\nSubject: deep\r\n" + "".join(heads).encode() + b"\r\nhello"


@pytest.mark.parametrize(
    "raw", [nested(50), nested(5_000), b"", b"\x00" * 1_000, b"From\n: : :\n\xff", b"a: b\r\n" * 9_999]
)
def test_a_hostile_form_is_read_somehow(raw: bytes) -> None:
    assert read_mime(raw).id


def test_too_deep_an_email_keeps_its_headers() -> None:
    assert read_mime(nested(5_000)).subject == "deep"


def test_a_bounce_names_the_email_that_it_is_about() -> None:
    raw = (
        b"From: MAILER-DAEMON@example.org\r\nContent-Type: multipart/report; boundary=b\r\n\r\n"
        b"--b\r\nContent-Type: text/plain\r\n\r\nSorry.\r\n"
        b"--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; x\r\n\r\n"
        b"Action: failed\r\nDiagnostic-Code: smtp; 550 no\r\n\r\n"
        b"--b\r\nContent-Type: message/rfc822\r\n\r\nMessage-ID: <ours@nello.example>\r\n\r\nbody\r\n--b--\r\n"
    )
    assert {"Action: failed", "Message-ID: <ours@nello.example>"} <= set(read_mime(raw).report.splitlines())


def test_a_bounce_that_mailgun_brings_has_its_report() -> None:
    file = FormFile("attachment-1", "status", "message/delivery-status", 14, b"Action: failed")
    request = WebhookRequest(b"", {}, "", form=[("from", "mailer-daemon@example.org")], files=[file])
    assert read_mail(request).report == "Action: failed"


@pytest.mark.parametrize(
    ("results", "is_proven"),
    [
        (["mx.example.com; dkim=pass header.d=example.org"], True),
        (["mx.example.com; dkim=pass header.i=@example.org; spf=fail"], True),
        (["mx.example.com 1; spf=pass smtp.mailfrom=anna@example.org"], True),
        (["mx.example.com; dmarc=pass header.from=example.org"], True),
        (["mx.example.com; dkim=pass header.d=robber.example"], False),
        (["mx.example.com; dkim=fail header.d=example.org"], False),
        (["mx.example.com.robber.example; dkim=pass header.d=example.org"], False),
        (["mx.example.com; dkim=none", "mx.example.com; dkim=pass header.d=example.org"], False),
        ([], False),
    ],
)
def test_only_the_own_servers_first_result_counts(results: list[str], is_proven: bool) -> None:
    headers = "".join(f"Authentication-Results: {one}\r\n" for one in results)
    mail = read_mime(f"{headers}From: anna@example.org\r\n\r\nx".encode(), trusted="mx.example.com")
    assert mail.is_proven is is_proven


def test_the_servers_time_is_read() -> None:
    moment = _moment(b'1 (UID 1 INTERNALDATE "17-Jul-2026 02:44:25 +0200")')
    assert moment is not None
    assert moment.isoformat() == "2026-07-17T00:44:25+00:00"
