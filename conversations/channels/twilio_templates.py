"""WhatsApp's templates at Twilio: those of the account's Content API."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.utils.translation import gettext

from conversations.channels.items import clean_text
from conversations.channels.templates import (
    FILE,
    GAP,
    LONGEST_VALUE,
    NoTemplates,
    Template,
    TemplateText,
    file_id,
    gaps_of,
    status_problem,
)
from projects.connections.integrations import Connection, guard_for
from projects.connections.settings.twilio import TWILIO_URL, TwilioSettings
from tools.services.messaging.twilio import Twilio, TwilioResponse

CONTENT_URL = "https://content.twilio.com"
# With what WhatsApp said of each; without it, where the account has no approvals.
LISTS = ("ContentAndApprovals", "Content")
MOST_PAGES, PAGE = 5, 100
SID = re.compile(r"HX[0-9a-fA-F]{32}")
ENDINGS: Mapping[str, str] = {"mp4": "video", "3gp": "video", "pdf": "document"}


@dataclass(frozen=True)
class TwilioTemplate(Template):
    """A content of Twilio's, by its SID."""

    sid: str = ""

    def sent_form(self, values: Mapping[str, str]) -> dict[str, Any]:
        filled = {key: FILE if key in self.files and file_id(values[key]) else values[key].strip() for key in values}
        return {"content_sid": self.sid, "variables": {key: value[:LONGEST_VALUE] for key, value in filled.items()}}


async def list_twilio_templates(connection: Connection) -> Sequence[Template]:
    """The contents of the account. Raises NoTemplates."""
    settings = cast(TwilioSettings, connection.settings)
    twilio = Twilio(settings, token=connection.secret, guard=guard_for(settings))
    # A proxy or an offline Twilio has both APIs at its one address.
    server = CONTENT_URL if settings.base_url == TWILIO_URL else settings.base_url
    for name in LISTS:
        found = await _list(twilio, f"{server}/v1/{name}?PageSize={PAGE}", server=server)
        if found is not None:
            return found
    raise NoTemplates(gettext("Twilio has no list of templates for this account."))


async def _list(twilio: Twilio, url: str, *, server: str) -> list[Template] | None:
    """The contents of all pages; None if there is no such list. Raises NoTemplates."""
    found: list[Template] = []
    for _ in range(MOST_PAGES):
        answer = await twilio.read(url)
        if isinstance(answer, str):
            raise NoTemplates(answer)
        if answer.status == 404:
            return None
        if answer.status != 200:
            raise NoTemplates(answer.message or gettext("Twilio answered with %(status)s.") % {"status": answer.status})
        rows = answer.document.get("contents")
        found += [_template(row) for row in rows if _has_sid(row)] if isinstance(rows, list) else []
        url = _next(answer, server=server)
        if not url:
            break
    return found


def _template(row: Mapping[str, Any]) -> Template:
    content = _content(row.get("types"))
    media = content.get("media")
    media = [media] if isinstance(media, str) else media if isinstance(media, list) else []
    gaps = [gap[1] for one in media if (gap := GAP.fullmatch(str(one)))]
    body = clean_text(content.get("body") or content.get("title"))
    return TwilioTemplate(
        name=clean_text(row.get("friendly_name"))[:512],
        language=clean_text(row.get("language"))[:20],
        texts=[
            gaps_of(body),
            gaps_of(clean_text(content.get("footer") or content.get("subtitle"))),
            *_others(content, media),
        ],
        files={name: _kind(row, name) for name in gaps},
        problem=_problem(row.get("approval_requests")),
        sid=row["sid"],
    )


def _others(content: Mapping[str, Any], media: Sequence[Any]) -> list[TemplateText]:
    """The addresses with gaps: of buttons, and of files that only end with one."""
    actions = content.get("actions")
    buttons = [one for one in actions if isinstance(one, dict)] if isinstance(actions, list) else []
    links = [f"{clean_text(one.get('title'))}: {clean_text(one.get('url'))}" for one in buttons if one.get("url")]
    files = [str(one) for one in media if not GAP.fullmatch(str(one))]
    return [gaps_of(text) for text in (*files, *links) if GAP.search(text)]


def _content(types: Any) -> Mapping[str, Any]:
    """The richest of a content's types: the others are for channels that don't show it."""
    found = types if isinstance(types, dict) else {}
    names = sorted(found, key=lambda name: name == "twilio/text")
    return next((found[name] for name in names if isinstance(found[name], dict)), {})


def _kind(row: Mapping[str, Any], name: str) -> str:
    """The kind of a file, by the ending of its example."""
    examples = row.get("variables")
    example = str(examples.get(name, "")) if isinstance(examples, dict) else ""
    return ENDINGS.get(example.partition("?")[0].rpartition(".")[2].lower(), "image")


def _problem(approval: Any) -> str:
    """The reason why the template can't be sent; empty without an approval, because Twilio then refuses it itself."""
    approval = next(iter(approval), {}) if isinstance(approval, list) else approval
    status = clean_text(approval.get("status")) if isinstance(approval, dict) else ""
    return status_problem(status) if status else ""


def _has_sid(row: Any) -> bool:
    return isinstance(row, dict) and bool(SID.fullmatch(str(row.get("sid"))))


def _next(answer: TwilioResponse, *, server: str) -> str:
    """The address of the next page, on the same server."""
    meta = answer.document.get("meta")
    url = meta.get("next_page_url") if isinstance(meta, dict) else None
    return url if isinstance(url, str) and url.startswith(f"{server}/v1/") else ""
