"""Postmark's inbound webhook: an e-mail as JSON, authenticated by the password in the webhook's address."""

from __future__ import annotations

import binascii
import hmac
import json
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from email.utils import parseaddr
from functools import partial
from typing import Any

from conversations.channels.mail.message import InboundMail
from conversations.channels.mail.parts import MailPart, clean_content_id
from conversations.channels.provider import MalformedWebhook, WebhookRequest

FORWARDED = "message/rfc822"
REPORTS = ("message/delivery-status", FORWARDED, "text/rfc822-headers")
LONGEST_REPORT = 100_000
SIGNED_BY_DOMAIN = "DKIM_VALID_AU"
# The name of the next field of an object.
FIELD = re.compile(r'[\s,]*("(?:[^"\\]|\\.){0,200}")\s*:\s*')
DECODER = json.JSONDecoder()


def is_genuine(request: WebhookRequest, password: str) -> bool:
    """True if the password of the basic authentication is the connection's."""
    scheme, _, given = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "basic":
        return False
    try:
        credentials = b64decode(given.strip(), validate=True)
    except (binascii.Error, ValueError):
        return False
    own = password.encode()
    is_password = hmac.compare_digest(credentials.partition(b":")[2], own)
    # The secret may also be entered as user and password, as the address has it.
    return hmac.compare_digest(credentials, own) or is_password


def read_mail(request: WebhookRequest) -> InboundMail:
    """The e-mail of a webhook. Raises MalformedWebhook."""
    document = _document(request)
    if not isinstance(document, dict) or not isinstance(document.get("Headers"), list):
        raise MalformedWebhook("The webhook is no inbound e-mail: it has no Headers.")
    headers = list(_headers(document["Headers"]))
    sender = _sender(document)
    attachments = [one for one in _list(document.get("Attachments")) if isinstance(one, dict)]
    return InboundMail(
        sender=sender,
        name=_text(document, "FromName") or _text(document.get("FromFull"), "Name"),
        subject=_text(document, "Subject"),
        text=_text(document, "TextBody"),
        html=_text(document, "HtmlBody"),
        headers=headers,
        files=[_part(one) for one in attachments if _text(one, "ContentType") not in REPORTS or _is_forwarded(one)],
        is_cut=request.is_cut,
        is_proven=_is_proven(headers, sender),
        report="\n".join(_report(one) for one in attachments if _text(one, "ContentType") in REPORTS),
        fallback_id=_text(document, "MessageID"),
    )


def _document(request: WebhookRequest) -> Any:
    if request.is_cut:
        return _beginning(request.body.decode("utf-8", "ignore"))
    try:
        return json.loads(request.body)
    except (ValueError, RecursionError):
        raise MalformedWebhook("The webhook is not JSON.") from None


def _beginning(text: str) -> dict[str, Any]:
    """The fields of an object whose end is missing. Postmark names the files last."""
    document, at = dict[str, Any](), text.find("{") + 1
    while field := FIELD.match(text, at):
        try:
            name = json.loads(field[1])
            document[name], at = DECODER.raw_decode(text, field.end())
        except (ValueError, RecursionError):
            break
    return document


def _is_forwarded(attachment: Mapping[str, Any]) -> bool:
    return _text(attachment, "ContentType") == FORWARDED


def _part(attachment: Mapping[str, Any]) -> MailPart:
    content = _text(attachment, "Content")
    return MailPart(
        name=_text(attachment, "Name"),
        declared_type=_text(attachment, "ContentType").partition(";")[0].strip().lower(),
        size=len(content) * 3 // 4,
        read=partial(_decode, content),
        content_id=clean_content_id(_text(attachment, "ContentID")),
    )


def _decode(content: str) -> bytes:
    try:
        return binascii.a2b_base64(content)
    except (binascii.Error, ValueError):
        return b""


def _is_proven(headers: Sequence[tuple[str, str]], sender: str) -> bool:
    """True if Postmark's own check found a signature of the sender's domain, or its SPF record allows the server.

    A header that stands there twice may be the sender's, so it proves nothing.
    """
    domain = sender.rpartition("@")[2].lower()
    tests = [value for name, value in headers if name.lower() == "x-spam-tests"]
    spf = [value.strip() for name, value in headers if name.lower() == "received-spf"]
    if len(tests) == 1 and SIGNED_BY_DOMAIN in tests[0].replace(",", " ").split():
        return True
    if len(spf) != 1 or not spf[0].lower().startswith("pass"):
        return False
    fields = dict(one.strip().partition("=")[::2] for one in spf[0].replace(" ", ";").split(";") if "=" in one)
    return bool(domain) and fields.get("envelope-from", "").strip('"<>').rpartition("@")[2].lower() == domain


def _sender(document: Mapping[str, Any]) -> str:
    return (_text(document.get("FromFull"), "Email") or parseaddr(_text(document, "From"))[1]).strip().lower()


def _headers(found: Sequence[Any]) -> Iterator[tuple[str, str]]:
    for one in found[:500]:
        if _text(one, "Name"):
            yield _text(one, "Name"), _text(one, "Value")


def _report(attachment: Mapping[str, Any]) -> str:
    try:
        return b64decode(_text(attachment, "Content")[:LONGEST_REPORT]).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(document: Any, name: str) -> str:
    """A text of a document; empty if there is none."""
    value = document.get(name) if isinstance(document, dict) else None
    return value if isinstance(value, str) else ""
