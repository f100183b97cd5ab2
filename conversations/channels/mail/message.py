"""An e-mail as received from any provider, and the item made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import Any

from conversations.channels.items import (
    LONGEST_TEXT,
    IgnoredItem,
    IncomingMessage,
    Item,
    ReceiptUpdate,
    RemoteFile,
    Sender,
    clean_text,
)
from conversations.channels.keywords import keyword_of
from conversations.channels.mail.automatic import LIST, BounceReport, automatic_kind, find_report
from conversations.channels.mail.parts import MailFiles, MailPart, files_of
from conversations.channels.mail.words import own_words, read_html
from conversations.models import Channel
from tools.models import ReceiptState
from tools.services.messaging.bounce_proof import is_proof

ADDRESS = re.compile(r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9\u00a1-\ud7ff\uf900-\uffef.-]{1,120}")
MESSAGE_ID = re.compile(r"<[!-;=?-~]{3,250}>")
# The Message-ID of an e-mail of ours names its effect.
OWN_ID = re.compile(r"<([0-9a-f]{64})@")
REPLY = re.compile(r"^\s*(?:re|aw|sv|antw|rif|r|ref|vs|odp)\s*(?:\[\d+\])?\s*:", re.IGNORECASE)
REPORT_WITH_PATH = "A report on an e-mail that doesn’t come from a mail server."
UNPROVEN_REPORT = "Somebody reports that it bounced, and nothing proves it."
# A chat whose sender nobody vouches for is apart from the one of the same address.
UNPROVEN = "(unproven)"
LONGEST_KEPT = 100_000
LONGEST_SUBJECT = 200
MOST_REFERENCES = 20
LONGER = "[The e-mail is longer.]"
CUT = "[The e-mail is larger than what is kept. Files that aren’t named here may be missing.]"
MORE = "[{count} more files came with the e-mail, which aren’t kept.]"


@dataclass(frozen=True)
class InboundMail:
    """An e-mail as it arrived.

    `is_proven` is true if the receiving server vouches for the domain of the sender's address. `report` is the part of a
    bounce for machines, with the headers of the message that bounced. `is_cut` if only its beginning was read.
    """

    sender: str
    name: str
    subject: str
    text: str
    html: str
    headers: Sequence[tuple[str, str]]
    files: Sequence[MailPart] = ()
    is_proven: bool = False
    envelope: str | None = None
    report: str = ""
    at: datetime | None = None
    fallback_id: str = ""
    is_cut: bool = False

    def header(self, name: str) -> str:
        """The first header of a name."""
        return next(self.headers_of(name), "")

    def headers_of(self, name: str) -> Iterator[str]:
        return (value for header, value in self.headers if header.lower() == name)

    @property
    def id(self) -> str:
        """The Message-ID, or one that follows from the contents."""
        if found := MESSAGE_ID.search(self.header("message-id")):
            return found[0]
        seed = self.fallback_id or "\n".join((self.sender, self.subject, self.text, self.html))
        return f"<{sha256(seed.encode('utf-8', 'replace')).hexdigest()}@without.id>"

    @property
    def references(self) -> list[str]:
        """The Message-IDs of the thread, the newest first."""
        found = MESSAGE_ID.findall(f"{self.header('references')[-20_000:]} {self.header('in-reply-to')[:2_000]}")
        return list(dict.fromkeys(reversed(found)))[:MOST_REFERENCES]

    @cached_property
    def whole_text(self) -> str:
        return self.text if self.text.strip() else read_html(self.html)


def item_of(mail: InboundMail, *, own_address: str) -> Item:
    """The item of an e-mail. A mailing list, a bounce and the mailbox's own e-mails are no message."""
    id, sender = mail.id[:200] if len(mail.id) <= 200 else sha256(mail.id.encode()).hexdigest(), mail.sender.lower()
    if report := find_report(mail.headers, mail.envelope, sender, mail.report):
        ref = report.bounced or next(iter(mail.references), "")
        if ref and report.is_final and not report.is_from_person:
            return _bounce(id, ref, report)
        return IgnoredItem(id, REPORT_WITH_PATH if report.is_from_person else "A mail server reports on an e-mail.")
    if len(sender) > 180 or not ADDRESS.fullmatch(sender) or not sender.isprintable():
        return IgnoredItem(id, "The e-mail has no sender who can be answered.", is_malformed=True)
    if sender == own_address:
        return IgnoredItem(id, "The e-mail comes from the mailbox’s own address.")
    kind = automatic_kind(mail.headers, sender, mail.envelope)
    if kind == LIST:
        return IgnoredItem(id, kind)
    return _message(id, sender, mail, unanswered=kind)


def _bounce(id: str, ref: str, report: BounceReport) -> ReceiptUpdate:
    """A failure if the report brings the e-mail back. Without proof, a person has to say what became of it."""
    own = OWN_ID.match(ref)
    key = own[1] if own else ""
    if key and is_proof(report.proof, key):
        return ReceiptUpdate(id, ref[:200], ReceiptState.FAILED, report.reason, key=key)
    return ReceiptUpdate(id, ref[:200], ReceiptState.UNKNOWN, f"{UNPROVEN_REPORT} {report.reason}", key=key)


def item_of_files(body: Mapping[str, Any]) -> IncomingMessage:
    """The files of an e-mail that was kept as `body`, whose contents were kept apart from it."""
    sender = str(body.get("from", ""))
    files = [RemoteFile("", one["name"], one["type"], missing=one["missing"]) for one in body.get("files", ())]
    id = str(body.get("message_id", ""))
    return IncomingMessage(id, id, sender, Sender(external_id=sender), text="", sent_at=None, files=files)


def _message(id: str, sender: str, mail: InboundMail, *, unanswered: str) -> IncomingMessage:
    chat = sender if mail.is_proven else f"{sender} {UNPROVEN}"
    found = files_of(mail.files, mail.html)
    return IncomingMessage(
        external_id=id,
        message_ref=id,
        chat_id=chat,
        sender=Sender(external_id=chat[:150], name=clean_line(mail.name), email=sender if mail.is_proven else ""),
        text=_words(mail, found),
        sent_at=mail.at,
        thread=mail.references,
        unanswered=unanswered,
        body=_body(sender, mail, found),
        files=found.files,
    )


def _words(mail: InboundMail, found: MailFiles) -> str:
    """The words that the agent reads: the subject of a new e-mail, and the sender's words."""
    subject, words = clean_line(mail.subject), clean_text(own_words(_storable(mail.whole_text)))
    is_reply = bool(mail.references) or REPLY.match(subject)
    for keyword in (words, subject):
        if keyword_of(keyword, channel=Channel.EMAIL):
            return keyword
    if len(words) == LONGEST_TEXT:
        words = f"{words[: LONGEST_TEXT - 2_000]}\n{LONGER}"
    notes = [MORE.format(count=found.more)] if found.more else []
    if mail.is_cut:
        notes.append(CUT)
    parts = ("" if is_reply else subject, words, "\n".join(notes))
    return clean_text("\n\n".join(part for part in parts if part)) or ("" if found.files else "[An empty e-mail.]")


def _body(sender: str, mail: InboundMail, found: MailFiles) -> Mapping[str, Any]:
    """The e-mail as it is kept, with all of its text."""
    return {
        "from": sender,
        "subject": clean_line(mail.subject),
        "message_id": mail.id,
        "references": mail.references,
        "text": _storable(mail.whole_text),
        "files": [{"name": one.name, "type": one.declared_type, "missing": one.missing} for one in found.files],
    }


def clean_line(text: str) -> str:
    """A text on one line, without control characters."""
    return " ".join("".join(one if one.isprintable() else " " for one in clean_text(text)).split())[:LONGEST_SUBJECT]


def _storable(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode()[:LONGEST_KEPT]
