"""The files of an e-mail: what is one, what decorates, and what a stranger's form costs."""

from __future__ import annotations

import time
from base64 import b64encode
from email.message import EmailMessage
from typing import Any

import pytest

from conversations.channels.items import IncomingMessage
from conversations.channels.mail.lifted import lift
from conversations.channels.mail.message import CUT, item_of
from conversations.channels.mail.mime import read_mime
from conversations.channels.mail.words import images_of
from conversations.handover.image_size import read_size
from tests.conversations.channels.files import PDF, ZIP

ADDRESS = "hello@nello.example"


def png(width: int = 800, height: int = 600, *, more: int = 4_000) -> bytes:
    size = width.to_bytes(4, "big") + height.to_bytes(4, "big")
    return b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + size + bytes(more)


def letter(text: str = "See the files.", *, html: str = "") -> EmailMessage:
    mail = EmailMessage()
    mail["From"], mail["Subject"], mail["Message-ID"] = "anna@example.org", "Re: x", "<one@example.org>"
    mail.set_content(text)
    if html:
        mail.add_alternative(html, subtype="html")
    return mail


def attach(mail: EmailMessage, content: bytes, name: str | None, kind: str = "application/pdf", **more: Any) -> None:
    main, _, sub = kind.partition("/")
    mail.add_attachment(content, maintype=main, subtype=sub, filename=name, **more)


def item(raw: bytes | EmailMessage) -> IncomingMessage:
    raw = raw.as_bytes() if isinstance(raw, EmailMessage) else raw
    found = item_of(read_mime(raw), own_address=ADDRESS)
    assert isinstance(found, IncomingMessage)
    return found


def files(raw: bytes | EmailMessage) -> list[tuple[str, bytes | None]]:
    return [(one.name, one.content) for one in item(raw).files]


def reasons(raw: bytes | EmailMessage) -> list[tuple[str, str]]:
    return [(one.name, one.missing) for one in item(raw).files]


def test_files_are_read_as_they_were_attached() -> None:
    mail, text = letter(), "Grüße, \n-- \nnot a signature\n".encode() * 400
    attach(mail, PDF * 9_000, "Angebot für zwei.pdf")
    attach(mail, text, "list.txt", "text/plain", cte="quoted-printable")
    attach(mail, png(), "photo.png", "image/png")
    assert files(mail) == [("Angebot für zwei.pdf", PDF * 9_000), ("list.txt", text), ("photo.png", png())]
    assert item(mail).text == "See the files."


@pytest.mark.parametrize("size", [4_001, 57 * 75, 300_000, 300_001, 300_002])
def test_long_runs_are_put_back_where_they_were(size: int) -> None:
    mail, content = letter(), bytes(range(256)) * (size // 256) + bytes(size % 256)
    attach(mail, content, "a.bin", "application/octet-stream")
    attach(mail, content[::-1], "b.bin", "application/octet-stream")
    assert files(mail) == [("a.bin", content), ("b.bin", content[::-1])]


def test_base64_in_the_text_stays_text() -> None:
    code = b64encode(bytes(9_000)).decode()
    lines = "\n".join(code[at : at + 76] for at in range(0, len(code), 76))
    text = read_mime(f"From: a@b.example\r\n\r\nKey:\n{lines}\nend".encode()).text
    assert text == f"Key:\n{lines}\nend"


def test_a_mark_in_a_strangers_email_stands_for_nothing() -> None:
    mail = letter("lifted0\nlifted00000000000000000000000000000000x0\n")
    attach(mail, PDF * 2_000, "a.pdf")
    assert item(mail).text.startswith("lifted0")


INLINE = '<p>Look: <img src="cid:shot@x"></p>'


@pytest.mark.parametrize(
    ("html", "content", "is_kept"),
    [
        (INLINE, png(), True),
        (INLINE, png(1, 1), False),
        (INLINE, png(100, 90), False),
        (INLINE, png(2_000, 20), False),
        (f"<blockquote>{INLINE}</blockquote>", png(), False),
        (f"<blockquote>old</blockquote><div>new</div>{INLINE}", png(), True),
        (f'<p>Hi</p><div class="gmail_signature">{INLINE}</div>', png(), False),
        (f'<p>Hi</p><div id="appendonsend"></div>{INLINE}', png(), False),
        (f'<p>Hi</p><div id="Signature">{INLINE}</div>', png(), False),
        ("<p>no picture</p>", png(), True),
    ],
    ids=["shown", "pixel", "logo", "line", "quoted", "below", "Gmail", "Outlook", "Outlook's signature", "not shown"],
)
def test_pictures_of_the_page_are_kept_if_they_are_the_senders(html: str, content: bytes, is_kept: bool) -> None:
    mail = letter(html=html)
    [_, page] = mail.iter_parts()
    assert isinstance(page, EmailMessage)
    page.add_related(content, maintype="image", subtype="png", cid="<shot@x>", filename="image001.png")
    assert [name for name, _ in files(mail)] == (["image001.png"] if is_kept else [])


def test_a_small_picture_that_was_attached_is_kept() -> None:
    mail = letter()
    attach(mail, png(16, 16), "favicon.png", "image/png")
    assert [name for name, _ in files(mail)] == ["favicon.png"]


@pytest.mark.parametrize(
    ("content", "size"),
    [
        (png(3, 4), (3, 4)),
        (b"GIF89a\x03\x00\x04\x00", (3, 4)),
        (b"\xff\xd8\xff\xe0\x00\x04\x00\x00\xff\xc0\x00\x11\x08\x00\x04\x00\x03", (3, 4)),
        (b"RIFF\x00\x00\x00\x00WEBPVP8X" + bytes(8) + b"\x02\x00\x00\x03\x00\x00", (3, 4)),
        (b"\xff\xd8\xff\xe0\x00\x00" * 9, None),
        (b"\x89PNG\r\n\x1a\n", None),
        (b"nothing", None),
    ],
)
def test_the_size_of_a_picture_is_in_its_first_bytes(content: bytes, size: tuple[int, int] | None) -> None:
    assert read_size(content) == size


@pytest.mark.parametrize(
    "html", ["<img src=cid:a", "<" * 200_000, "<a " * 200_000, "cid:a " * 100_000, "<a" + "cid:" * 90_000]
)
def test_a_page_without_end_is_read_in_time(html: str) -> None:
    began = time.process_time()
    images_of(html)
    assert time.process_time() - began < 5


@pytest.mark.parametrize(
    ("name", "kind", "reason"),
    [
        ("winmail.dat", "application/ms-tnef", "Outlook"),
        ("winmail.dat", "application/octet-stream", "Outlook"),
        ("smime.p7m", "application/pkcs7-mime", "encrypted"),
        ("big.pdf", "application/pdf", "too large"),
    ],
)
def test_a_file_that_nobody_can_read_is_named_with_the_reason(name: str, kind: str, reason: str) -> None:
    mail = letter()
    attach(mail, PDF * 700_000 if name == "big.pdf" else b"x", name, kind)
    [(shown, missing)] = reasons(mail)
    assert (shown, reason in missing, item(mail).files[0].content) == (name, True, None)


def test_signatures_of_programs_are_no_files() -> None:
    mail = letter()
    for kind in ("pkcs7-signature", "pgp-signature"):
        attach(mail, b"x", "smime.p7s", f"application/{kind}")
    assert files(mail) == []


def test_a_forwarded_email_is_named_by_its_subject() -> None:
    mail, inner = letter(), letter("secret")
    inner.replace_header("Subject", "The\toffer")
    mail.add_attachment(inner)
    [(name, missing)] = reasons(mail)
    assert (name, "e-mail" in missing, "secret" in item(mail).text) == ("The offer.eml", True, False)


def test_another_form_of_the_text_is_no_file() -> None:
    mail = letter(html="<p>Hi</p>")
    mail.add_alternative("<p>amp</p>", subtype="x-amp-html")
    assert files(mail) == []


def test_an_invitation_is_a_file() -> None:
    mail = letter()
    mail.add_alternative("BEGIN:VCALENDAR\n", subtype="calendar")
    assert files(mail) == [("file", b"BEGIN:VCALENDAR\n")]


def test_files_beyond_what_a_message_holds_are_named() -> None:
    mail = letter()
    for number in range(3):
        attach(mail, PDF * 480_000, f"{number}.pdf")
    assert ["together" in missing for _, missing in reasons(mail)] == [False, False, True]


def test_of_a_thousand_parts_the_first_are_kept_and_the_rest_counted() -> None:
    mail = letter()
    for number in range(1_000):
        attach(mail, b"x", f"{number}.txt", "text/plain", cte="7bit")
    found = item(mail)
    assert (len(found.files), "[980 more files came" in found.text) == (20, True)


def test_of_an_email_whose_end_is_missing_no_file_is_kept() -> None:
    mail = letter()
    attach(mail, PDF * 90_000, "offer.pdf")
    raw = mail.as_bytes()[:500_000]
    found = item_of(read_mime(raw, is_cut=True), own_address=ADDRESS)
    assert isinstance(found, IncomingMessage)
    assert [(one.name, one.content) for one in found.files] == [("offer.pdf", None)]
    assert (CUT in found.text, found.files[0].missing != "") == (True, True)


def nested(depth: int) -> bytes:
    return b"".join(
        b"Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n" % (number, number) for number in range(depth)
    )


HEAD = b"From: anna@example.org\r\nSubject: hostile\r\n"
MULTIPART = b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
HOSTILE = {
    "lines": HEAD + b"\r\n" * 4_000_000,
    "headers": HEAD + b"a: b\r\n" * 1_000_000 + b"\r\nhi",
    "one header": HEAD + b"X: " + b"y" * 8_000_000 + b"\r\n\r\nhi",
    "folded header": HEAD + b"X: y\r\n" + b" y\r\n" * 1_000_000 + b"\r\nhi",
    "nested lines": HEAD + nested(200) + b"\r\n" * 500_000,
    "nested": HEAD + nested(20_000),
    "parts": HEAD + MULTIPART + b"--b\r\n\r\nx\r\n" * 500_000,
    "one line": HEAD + b"\r\n" + b"A" * 8_000_000,
    "broken runs": HEAD + b"\r\n" + (b"A" * 70 + b" \r\n") * 100_000,
    "boundaries": HEAD + MULTIPART + b"--b" * 2_000_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_form_takes_a_bounded_time(name: str) -> None:
    began = time.process_time()
    assert item(HOSTILE[name]).text
    # Seconds of this process: a parser that runs away takes minutes.
    assert time.process_time() - began < 20


def test_a_bound_keeps_the_beginning() -> None:
    lifted = lift(HOSTILE["headers"])
    assert (lifted.raw.startswith(HEAD), lifted.raw.endswith(b"\r\nhi"), len(lifted.raw) < 300_000) == (
        True,
        True,
        True,
    )


PARTS = (
    b"Content-Disposition: attachment; filename*=nowhere''%FF%FE",
    b"Content-Disposition: attachment; filename*0*=utf-8''a; filename*2=b; filename=\"=?x?q?a?=\"",
    b"Content-Disposition: attachment; filename=",
    b"Content-Disposition: ;;;\r\nContent-Transfer-Encoding: nonsense",
    b'Content-Transfer-Encoding: base64\r\nContent-Disposition: attachment; filename="..\\..\\x\x00.pdf"',
    b"Content-Transfer-Encoding: x-uuencode\r\nContent-Disposition: attachment; filename=a",
    b'Content-Type: image/\xff\xfe; name="\xf0\x9f"\r\nContent-ID: <<<\x00>',
    b"Content-Type: message/rfc822\r\n\r\nSubject: \xff",
    b"Content-Type: multipart/mixed",
    b'Content-Type: multipart/alternative; boundary=""',
)


@pytest.mark.parametrize("head", PARTS)
@pytest.mark.parametrize("body", [b"AAAA", b"A", b"===", b"\xff\x00", b"begin 666\n#\n", ZIP])
def test_a_malformed_part_is_read_somehow(head: bytes, body: bytes) -> None:
    found = item(HEAD + MULTIPART + b"--b\r\n\r\nhi\r\n--b\r\n" + head + b"\r\n\r\n" + body + b"\r\n--b--\r\n")
    assert found.text.startswith("hostile")
    assert all("\x00" not in one.name + one.declared_type for one in found.files)
