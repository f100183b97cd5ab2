"""Mailgun's routes: an e-mail as a form. The signature covers a time and a token, and each token counts once."""

from __future__ import annotations

import hmac
import json
import time
from collections.abc import Sequence
from email.utils import parseaddr
from functools import partial
from hashlib import sha256

from conversations.channels.mail.message import InboundMail
from conversations.channels.mail.parts import MailPart, clean_content_id
from conversations.channels.mail.postmark import LONGEST_REPORT, REPORTS
from conversations.channels.provider import FormFile, MalformedWebhook, WebhookRequest

OLDEST_SECONDS = 15 * 60


def is_genuine(request: WebhookRequest, signing_key: str) -> bool:
    """True if the signing key signed the form's token within the last 15 minutes."""
    form = _Form(request)
    timestamp, token, given = (form.only(name) for name in ("timestamp", "token", "signature"))
    if not (timestamp.isascii() and timestamp.isdecimal() and len(timestamp) <= 12 and token):
        return False
    expected = hmac.new(signing_key.encode(), f"{timestamp}{token}".encode("utf-8", "replace"), sha256).hexdigest()
    is_fresh = abs(time.time() - int(timestamp)) <= OLDEST_SECONDS
    return hmac.compare_digest(given.encode("utf-8", "replace"), expected.encode()) and is_fresh


def nonce_of(request: WebhookRequest) -> str:
    return _Form(request).only("token")


def read_mail(request: WebhookRequest) -> InboundMail:
    """The e-mail of a webhook. Raises MalformedWebhook."""
    form = _Form(request)
    headers = _headers(form.first("message-headers"))
    written_by = form.first("from") or next((value for name, value in headers if name.lower() == "from"), "")
    name, sender = parseaddr(written_by)
    if not (written_by or form.first("sender")):
        raise MalformedWebhook("The webhook is no e-mail: it has neither “from” nor “sender”.")
    return InboundMail(
        sender=sender.strip().lower(),
        name=name,
        subject=form.first("subject"),
        text=form.first("body-plain"),
        html=form.first("body-html"),
        headers=headers or _headers_of_fields(form),
        files=_parts(request, form),
        report="\n".join(_report(file) for file in request.files if file.declared_type in REPORTS),
        is_cut=request.is_cut,
        is_proven=_is_proven(form, headers, sender),
        envelope=form.only("sender") if form.has("sender") else None,
        fallback_id=form.first("token"),
    )


def _report(file: FormFile) -> str:
    return (file.content or b"")[:LONGEST_REPORT].decode("utf-8", "replace")


def _parts(request: WebhookRequest, form: _Form) -> list[MailPart]:
    """The files of the form. Those that the page shows have their Content-IDs in a field of their own."""
    try:
        found = json.loads(form.first("content-id-map") or "{}")
    except (ValueError, RecursionError):
        found = {}
    shown = {str(key): clean_content_id(id) for id, key in found.items()} if isinstance(found, dict) else {}
    return [
        MailPart(
            name=file.name,
            declared_type=file.declared_type,
            size=file.size,
            read=partial(bytes, file.content) if file.content is not None else None,
            content_id=shown.get(file.key, ""),
        )
        for file in request.files
    ]


class _Form:
    """The fields of a form. One that a stranger added to the e-mail as a header can stand there twice."""

    def __init__(self, request: WebhookRequest) -> None:
        self.fields: Sequence[tuple[str, str]] = request.form

    def all(self, name: str) -> list[str]:
        return [value for field, value in self.fields if field.lower() == name]

    def first(self, name: str) -> str:
        return next(iter(self.all(name)), "")

    def only(self, name: str) -> str:
        """The value of a field that stands there once, or ""."""
        found = self.all(name)
        return found[0] if len(found) == 1 else ""

    def has(self, name: str) -> bool:
        return bool(self.all(name))


def _headers(document: str) -> list[tuple[str, str]]:
    try:
        found = json.loads(document or "[]")
    except (ValueError, RecursionError):
        raise MalformedWebhook("The field message-headers is not JSON.") from None
    if not isinstance(found, list):
        raise MalformedWebhook("The field message-headers is not a list.")
    return [
        (one[0], one[1])
        for one in found[:500]
        if isinstance(one, list) and len(one) == 2 and all(isinstance(part, str) for part in one)
    ]


def _headers_of_fields(form: _Form) -> list[tuple[str, str]]:
    """The headers that Mailgun repeats as fields, for a form without the list."""
    return [(name, value) for name, value in form.fields if name[:1].isupper()]


def _is_proven(form: _Form, headers: Sequence[tuple[str, str]], sender: str) -> bool:
    """True if Mailgun's check passed for the domain of the sender's address, and not only for another one's."""
    domain = sender.rpartition("@")[2].lower()
    if not domain:
        return False
    envelope = form.only("sender").rpartition("@")[2].lower()
    if form.only("x-mailgun-spf").lower() == "pass" and envelope == domain:
        return True
    signers = [_tag(value, "d").lower() for name, value in headers if name.lower() == "dkim-signature"]
    is_signed = form.only("x-mailgun-dkim-check-result").lower() == "pass"
    return is_signed and bool(signers) and all(signer == domain for signer in signers)


def _tag(signature: str, name: str) -> str:
    fields = dict(one.strip().partition("=")[::2] for one in signature.split(";"))
    return fields.get(name, "").strip()
