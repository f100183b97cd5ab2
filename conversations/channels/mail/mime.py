"""E-mails in their own form (RFC 5322): headers, the text, and the names of files, whatever their author got wrong."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from datetime import datetime
from email.errors import HeaderParseError
from email.header import decode_header, make_header
from email.message import Message
from email.parser import BytesHeaderParser, BytesParser
from email.policy import compat32
from email.utils import parseaddr
from typing import Any

from conversations.channels.mail.message import LONGEST_KEPT, InboundMail

MOST_PARTS = 200
LONGEST_TEXT_PART = 2_000_000
LONGEST_HEADER = 20_000
REPORTS = ("message/delivery-status", "message/rfc822", "text/rfc822-headers")
# Codecs whose work grows with the square of the text, or that are none for texts of people.
NO_CHARSETS = frozenset({"idna", "punycode", "raw_unicode_escape", "undefined", "unicode_escape"})


def read_mime(raw: bytes, *, at: datetime | None = None, trusted: str = "") -> InboundMail:
    """The e-mail. `trusted` is the name under which the mailbox's own server reports its checks of the sender."""
    try:
        message: Message[Any, Any] = BytesParser(policy=compat32).parsebytes(raw)
        parts = list(_leaves(message))
    except (RecursionError, ValueError, IndexError):
        # Nested deeper than any mail program nests: only the headers are read.
        message, parts = BytesHeaderParser(policy=compat32).parsebytes(raw[:LONGEST_KEPT]), []
    headers = [(name, decoded(value)) for name, value in message.items()]
    name, sender = parseaddr(decoded(message.get("From", "")))
    sender = sender.strip().lower()
    texts = [part for part in parts if _is_text(part)]
    return InboundMail(
        sender=sender,
        name=name,
        subject=decoded(message.get("Subject", "")),
        text="\n".join(_text(part) for part in texts if part.get_content_type() == "text/plain"),
        html=next((_text(part) for part in texts if part.get_content_type() == "text/html"), ""),
        headers=headers,
        files=[_file_name(part) for part in parts if not _is_text(part) and part.get_content_type() not in REPORTS],
        is_proven=_is_proven(headers, sender, trusted),
        report="\n".join(_report(part) for part in parts if part.get_content_type() in REPORTS),
        at=at,
    )


def decoded(value: Any) -> str:
    """A header as text. One that can't be decoded stays as it is."""
    text = str(value)[:LONGEST_HEADER]
    try:
        return str(make_header(decode_header(text)))
    except (HeaderParseError, LookupError, UnicodeError, ValueError):
        return text


def _leaves(message: Message[Any, Any]) -> Iterator[Message[Any, Any]]:
    """The parts that hold no others, in their order, without those of forwarded e-mails."""
    waiting, seen = [message], 0
    while waiting and seen < MOST_PARTS:
        part = waiting.pop()
        seen += 1
        if part.get_content_maintype() == "multipart" and part.is_multipart():
            waiting.extend(reversed(_parts_of(part)))
        else:
            yield part


def _parts_of(part: Message[Any, Any]) -> list[Message[Any, Any]]:
    payload = part.get_payload()
    return [one for one in payload if isinstance(one, Message)] if isinstance(payload, list) else []


def _is_text(part: Message[Any, Any]) -> bool:
    is_file = part.get_content_disposition() == "attachment" or part.get_filename() is not None
    return part.get_content_type() in ("text/plain", "text/html") and not is_file


def _text(part: Message[Any, Any]) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    return payload[:LONGEST_TEXT_PART].decode(_charset(part), "replace")


def _charset(part: Message[Any, Any]) -> str:
    try:
        found = codecs.lookup(part.get_content_charset("utf-8"))
    except (LookupError, ValueError):
        return "utf-8"
    is_of_texts = getattr(found, "_is_text_encoding", True) and found.name not in NO_CHARSETS
    return found.name if is_of_texts else "utf-8"


def _file_name(part: Message[Any, Any]) -> str:
    return decoded(part.get_filename() or "")


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
