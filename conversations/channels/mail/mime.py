"""Parser of raw e-mails (RFC 5322): headers, text and files. It tolerates malformed ones."""

from __future__ import annotations

import binascii
import codecs
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesHeaderParser, BytesParser
from email.policy import compat32
from email.utils import parseaddr
from typing import Any

from conversations.channels.mail.lifted import LiftedMail, lift
from conversations.channels.mail.message import LONGEST_KEPT, InboundMail
from conversations.channels.mail.parts import MailPart, clean_content_id

MOST_PARTS = 2_000
MOST_HEADERS = 500
LONGEST_TEXT_PART = 2_000_000
LONGEST_HEADER = 20_000
FORWARDED = "message/rfc822"
REPORTS = ("message/delivery-status", FORWARDED, "text/rfc822-headers")
# Codecs whose work grows with the square of the text, or that are none for texts of people.
NO_CHARSETS = frozenset({"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape"})


@dataclass(frozen=True)
class _Leaf:
    """A part that holds no others. `is_alternative` for another form of the text."""

    part: Message[Any, Any]
    is_alternative: bool = False

    @property
    def kind(self) -> str:
        return self.part.get_content_type()

    @property
    def is_named(self) -> bool:
        return self.part.get_content_disposition() == "attachment" or bool(_file_name(self.part))

    @property
    def is_text(self) -> bool:
        return self.kind in ("text/plain", "text/html") and not self.is_named

    @property
    def is_file(self) -> bool:
        """True for a part that is neither the text, nor another form of it, nor for machines only."""
        is_form = self.is_alternative and not self.is_named and self.kind.startswith("text/")
        is_report = self.kind in REPORTS and self.kind != FORWARDED
        return not (self.is_text or is_report or (is_form and self.kind != "text/calendar"))


def read_mime(raw: bytes, *, at: datetime | None = None, trusted: str = "", is_cut: bool = False) -> InboundMail:
    """The e-mail. `trusted` is the name under which the mailbox's own server reports its checks of the sender.

    `is_cut` if the end of `raw` is missing, so that no file is whole.
    """
    lifted = lift(raw, is_cut=is_cut)
    message, leaves = _parse(lifted)
    headers = [(name, decoded(value)) for name, value in message.items()[:MOST_HEADERS]]
    name, sender = parseaddr(decoded(message.get("From", "")))
    sender = sender.strip().lower()
    texts = [leaf for leaf in leaves if leaf.is_text]
    return InboundMail(
        sender=sender,
        name=name,
        subject=decoded(message.get("Subject", "")),
        text="\n".join(_text(leaf.part, lifted) for leaf in texts if leaf.kind == "text/plain"),
        html=next((_text(leaf.part, lifted) for leaf in texts if leaf.kind == "text/html"), ""),
        headers=headers,
        files=[_file(leaf.part, lifted) for leaf in leaves if leaf.is_file],
        is_proven=_is_proven(headers, sender, trusted),
        report="\n".join(_report(leaf.part) for leaf in leaves if leaf.kind in REPORTS),
        at=at,
        is_cut=lifted.is_cut,
    )


def _parse(lifted: LiftedMail) -> tuple[Message[Any, Any], list[_Leaf]]:
    if not lifted.is_head:
        try:
            message: Message[Any, Any] = BytesParser(policy=compat32).parsebytes(lifted.raw)
            return message, list(_leaves(message))
        except (RecursionError, ValueError, IndexError):
            # Nested deeper than any mail program nests: only the headers are read.
            pass
    return BytesHeaderParser(policy=compat32).parsebytes(lifted.raw[:LONGEST_KEPT]), []


def decoded(value: Any) -> str:
    """A header as text. One that can't be decoded stays as it is."""
    text = str(value)[:LONGEST_HEADER]
    try:
        return str(make_header(decode_header(text)))
    except (HeaderParseError, LookupError, UnicodeError, ValueError):
        return text


def _leaves(message: Message[Any, Any]) -> Iterator[_Leaf]:
    """The parts that hold no others, in their order, without those of forwarded e-mails."""
    waiting, seen = [_Leaf(message)], 0
    while waiting and seen < MOST_PARTS:
        leaf = waiting.pop()
        seen += 1
        if leaf.part.get_content_maintype() == "multipart" and leaf.part.is_multipart():
            is_alternative = leaf.kind == "multipart/alternative"
            waiting.extend(_Leaf(one, is_alternative) for one in reversed(_parts_of(leaf.part)))
        elif leaf.part.get_content_maintype() != "multipart":
            yield leaf


def _parts_of(part: Message[Any, Any]) -> list[Message[Any, Any]]:
    payload = part.get_payload()
    return [one for one in payload if isinstance(one, Message)] if isinstance(payload, list) else []


def _text(part: Message[Any, Any], lifted: LiftedMail) -> str:
    return _content(part, lifted)[:LONGEST_TEXT_PART].decode(_charset(part), "replace")


def _content(part: Message[Any, Any], lifted: LiftedMail) -> bytes:
    """The decoded content of a part."""
    payload = lifted.restore(_payload(part))
    if _encoding(part) == "base64":
        with suppress(binascii.Error, ValueError):
            return binascii.a2b_base64(payload)
    if lifted.holds(_payload(part)):
        part.set_payload(payload)
    found = part.get_payload(decode=True)
    return found if isinstance(found, bytes) else b""


def _payload(part: Message[Any, Any]) -> str:
    """The payload as it came. The library's own method would decode it."""
    found = getattr(part, "_payload", None)
    return found if isinstance(found, str) else ""


def _encoding(part: Message[Any, Any]) -> str:
    return str(part.get("Content-Transfer-Encoding", "")).strip().lower()


def _file(part: Message[Any, Any], lifted: LiftedMail) -> MailPart:
    size = lifted.size(_payload(part))
    return MailPart(
        name=_file_name(part) or _subject_of(part),
        declared_type=part.get_content_type(),
        size=size * 3 // 4 if _encoding(part) == "base64" else size,
        read=None if lifted.is_cut else _reader(part, lifted),
        content_id=clean_content_id(str(part.get("Content-ID", ""))[:500]),
        is_inline=part.get_content_disposition() == "inline",
    )


def _reader(part: Message[Any, Any], lifted: LiftedMail) -> Callable[[], bytes]:
    return lambda: _content(part, lifted)


def _charset(part: Message[Any, Any]) -> str:
    try:
        found = codecs.lookup(part.get_content_charset("utf-8"))
    except (LookupError, ValueError):
        return "utf-8"
    is_of_texts = getattr(found, "_is_text_encoding", True) and found.name not in NO_CHARSETS
    return found.name if is_of_texts else "utf-8"


def _file_name(part: Message[Any, Any]) -> str:
    try:
        return decoded(part.get_filename() or "")
    except (LookupError, TypeError, ValueError):
        # A name in a character set that doesn't exist.
        return "file"


def _subject_of(part: Message[Any, Any]) -> str:
    """The name of a forwarded e-mail, which is its subject."""
    parts = _parts_of(part) if part.get_content_type() == FORWARDED else []
    subject = " ".join(decoded(parts[0].get("Subject", "")).split()) if parts else ""
    return f"{subject[:80] or 'e-mail'}.eml" if parts else ""


def _report(part: Message[Any, Any]) -> str:
    """The headers of a report, or of the e-mail that it is about."""
    parts = _parts_of(part)
    if not parts:
        return str(part.get_payload())[:LONGEST_KEPT]
    return "\n".join(f"{name}: {value}" for one in parts[:20] for name, value in one.items())[:LONGEST_KEPT]


def _is_proven(headers: list[tuple[str, str]], sender: str, trusted: str) -> bool:
    """True if the first result of the mailbox's own server says that the sender's domain signed or sent the e-mail.

    That server puts its result before those that came with the e-mail (RFC 8601).
    """
    domain = sender.rpartition("@")[2]
    result = next((value for name, value in headers if name.lower() == "authentication-results"), "")
    server, *checks = (" ".join(part.lower().split()) for part in result.split(";"))
    if not trusted or not domain or server.partition(" ")[0] != trusted.lower():
        return False
    return any(
        (check.startswith("dkim=pass") and _names(check, ("header.d=", "header.i=@"), domain))
        or (check.startswith("dmarc=pass") and _names(check, ("header.from=",), domain))
        or (check.startswith("spf=pass") and _names(check, ("smtp.mailfrom=",), domain))
        for check in checks
    )


def _names(check: str, properties: tuple[str, ...], domain: str) -> bool:
    words = [word.strip('"') for word in check.split()]
    return any(
        word.startswith(name) and word.removeprefix(name).rpartition("@")[2] == domain
        for word in words
        for name in properties
    )
