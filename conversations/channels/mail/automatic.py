"""E-mails that no person wrote: automatic answers, bounces and mailing lists. None of them is answered."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tools.services.messaging.bounce_proof import PROOF_HEADER

Headers = Sequence[tuple[str, str]]

LIST = "A mailing list or newsletter isn’t answered."
AUTOMATIC = "An automatic e-mail isn’t answered."
LIST_HEADERS = ("list-id", "list-post", "list-unsubscribe")
# Headers that only automatic answers have.
ROBOT_HEADERS = ("x-autoreply", "x-autorespond", "x-autoresponder", "x-auto-response-suppress", "x-loop")
BULK = ("bulk", "junk", "auto_reply")
ROBOTS = re.compile(r"^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?|auto-?reply)(?:[+=-].*)?@")
DAEMONS = re.compile(r"^(?:mailer-daemon|postmaster)(?:[+=-].*)?@")
BOUNCED_ID = re.compile(r"^(?:Original-)?Message-ID:\s*(<[!-;=?-~]{3,250}>)", re.IGNORECASE | re.MULTILINE)
DIAGNOSTIC = re.compile(r"^Diagnostic-Code:\s*(?:smtp;\s*)?(.{1,200})", re.IGNORECASE | re.MULTILINE)
ACTION = re.compile(r"^Action:\s*(\w+)", re.IGNORECASE | re.MULTILINE)
PROOF = re.compile(rf"^{PROOF_HEADER}:\s*([0-9a-f]{{40}})\s*$", re.IGNORECASE | re.MULTILINE)
BOUNCED = "The recipient’s mail server didn’t take the e-mail."


@dataclass(frozen=True)
class BounceReport:
    """A report of a mail server. `bounced` is the Message-ID that it is about; empty if it isn't named. `proof` is the
    header of the e-mail that came back. `is_from_person` if it has a return path, as an e-mail of a person has.
    """

    is_final: bool
    bounced: str
    reason: str
    proof: str
    is_from_person: bool


def automatic_kind(headers: Headers, sender: str, envelope: str | None) -> str:
    """Why an e-mail isn't answered: LIST, AUTOMATIC, or "" if a person seems to have written it."""
    by_name = _by_name(headers)
    precedence = by_name.get("precedence", "").strip().lower().replace("-", "_")
    submitted = by_name.get("auto-submitted", "no").split(";")[0].strip().lower()
    is_automatic = submitted != "no" or any(name in by_name for name in ROBOT_HEADERS)
    if not is_automatic and (precedence == "list" or any(name in by_name for name in LIST_HEADERS)):
        return LIST
    is_automatic = is_automatic or precedence in BULK or _has_empty_path(by_name, envelope)
    return AUTOMATIC if is_automatic or ROBOTS.match(sender) else ""


def find_report(headers: Headers, envelope: str | None, sender: str, report: str) -> BounceReport | None:
    """The report of a mail server, or None for an e-mail of somebody. A bounce has an empty return path."""
    by_name = _by_name(headers)
    is_report = "multipart/report" in by_name.get("content-type", "").lower()
    if not (DAEMONS.match(sender) or not sender or is_report or (report and _has_empty_path(by_name, envelope))):
        return None
    action, diagnostic, bounced = ACTION.search(report), DIAGNOSTIC.search(report), BOUNCED_ID.search(report)
    proof = PROOF.search(report)
    is_final = action[1].lower() == "failed" if action else "x-failed-recipients" in by_name
    reason = f"{BOUNCED} {' '.join(diagnostic[1].split())}" if diagnostic else BOUNCED
    return BounceReport(
        is_final=is_final,
        bounced=bounced[1] if bounced else "",
        reason="".join(one for one in reason if one.isprintable()),
        proof=proof[1].lower() if proof else "",
        is_from_person=_has_path(by_name, envelope),
    )


def _has_empty_path(by_name: Mapping[str, str], envelope: str | None) -> bool:
    return envelope == "" or by_name.get("return-path", "").strip() == "<>"


def _has_path(by_name: Mapping[str, str], envelope: str | None) -> bool:
    """True if the receiving server names a return path that isn't empty."""
    path = envelope if envelope is not None else by_name.get("return-path", "")
    return path.strip() not in ("", "<>")


def _by_name(headers: Headers) -> dict[str, str]:
    """The first value of each header."""
    return {name.lower(): value for name, value in reversed(headers)}
