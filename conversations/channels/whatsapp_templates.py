"""WhatsApp's templates at Meta: those of a business account."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from django.utils.translation import gettext

from conversations.channels.items import clean_text
from conversations.channels.templates import (
    FILE,
    LONGEST_VALUE,
    NoTemplates,
    Template,
    TemplateText,
    file_id,
    gaps_of,
    status_problem,
)
from conversations.channels.whatsapp import graph_api
from projects.connections.integrations import Connection
from projects.connections.settings.whatsapp import WhatsAppSettings

MOST_PAGES, PAGE = 5, 100
# The key of a file at the beginning.
HEADER = "header"
MEDIA: Mapping[str, str] = {"IMAGE": "image", "VIDEO": "video", "DOCUMENT": "document"}
# Buttons whose gap is filled in, with the type of the parameter.
FILLED_BUTTONS: Mapping[str, str] = {"URL": "text", "COPY_CODE": "coupon_code"}


@dataclass(frozen=True)
class TemplatePart:
    """A part of a template with gaps: `header`, `body` or `button`. Only a button has a type and a place."""

    component: str
    text: TemplateText
    media: str = ""
    button: str = ""
    index: int = 0

    def sent_form(self, values: Mapping[str, str]) -> dict[str, Any]:
        place = {"sub_type": self.button.lower(), "index": str(self.index)} if self.button else {}
        return {"type": self.component, **place, "parameters": self._parameters(values)}

    def _parameters(self, values: Mapping[str, str]) -> list[dict[str, Any]]:
        if self.media:
            link = values[HEADER].strip()
            return [{"type": self.media, self.media: {"id": FILE} if file_id(link) else {"link": link}}]
        kind = FILLED_BUTTONS.get(self.button, "text")
        return [
            {"type": kind, **_name(name, self.component), kind: values[key].strip()[:LONGEST_VALUE]}
            for name, key in self.text.keys.items()
        ]


@dataclass(frozen=True)
class MetaTemplate(Template):
    """A template of Meta's."""

    parts: Sequence[TemplatePart] = ()

    def sent_form(self, values: Mapping[str, str]) -> dict[str, Any]:
        components = [one.sent_form(values) for one in self.parts if one.media or one.text.keys]
        return {"name": self.name, "language": {"code": self.language}, "components": components}


async def list_meta_templates(connection: Connection) -> Sequence[Template]:
    """The templates of the business account. Raises NoTemplates."""
    account = cast(WhatsAppSettings, connection.settings).business_account_id
    if not account:
        raise NoTemplates(
            gettext("Enter the business account ID of WhatsApp under Integrations to list your templates.")
        )
    found: list[Template] = []
    after = ""
    for _ in range(MOST_PAGES):
        page = f"{account}/message_templates?fields=name,language,status,components&limit={PAGE}{after}"
        answer = await graph_api(connection).call("GET", page)
        if not answer.is_ok:
            raise NoTemplates(answer.problem)
        rows = answer.document.get("data")
        found += [_template(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        cursor = _next(answer.document.get("paging"))
        if not cursor:
            break
        after = f"&after={cursor}"
    return found


def _template(row: Mapping[str, Any]) -> Template:
    components = {str(one.get("type")): one for one in row.get("components") or [] if isinstance(one, dict)}
    header, format = components.get("HEADER", {}), str(components.get("HEADER", {}).get("format", "TEXT"))
    media = MEDIA.get(format, "")
    head = TemplatePart("header", gaps_of("" if media else clean_text(header.get("text")), prefix="header."), media)
    body = TemplatePart("body", gaps_of(clean_text(components.get("BODY", {}).get("text"))))
    footer = TemplateText(clean_text(components.get("FOOTER", {}).get("text")), {})
    buttons = _buttons(components.get("BUTTONS", {}).get("buttons"))
    return MetaTemplate(
        name=clean_text(row.get("name"))[:512],
        language=clean_text(row.get("language"))[:20],
        texts=[head.text, body.text, footer, *(one.text for one in buttons)],
        files={HEADER: media} if media else {},
        problem=_problem(clean_text(row.get("status")), format),
        parts=[head, body, *buttons],
    )


def _buttons(found: Any) -> list[TemplatePart]:
    """The buttons with a gap: in their address, or the code that they copy."""
    parts = list[TemplatePart]()
    for index, one in enumerate(found if isinstance(found, list) else []):
        kind = str(one.get("type")) if isinstance(one, dict) else ""
        text = clean_text(one.get("url")) if kind == "URL" else "{{1}}" if kind == "COPY_CODE" else ""
        gaps = gaps_of(text)
        if kind in FILLED_BUTTONS and gaps.keys:
            shown = f"{clean_text(one.get('text'))}: {text}".removeprefix(": ")
            keys = dict.fromkeys(gaps.keys, f"button.{index + 1}")
            parts.append(TemplatePart("button", TemplateText(shown, keys), button=kind, index=index))
    return parts


def _problem(status: str, format: str) -> str:
    if problem := status_problem(status):
        return problem
    if format != "TEXT" and format not in MEDIA:
        return gettext("It begins with a place, which can’t be filled in here.")
    return ""


def _name(name: str, component: str) -> dict[str, str]:
    return {} if name.isdecimal() or component == "button" else {"parameter_name": name}


def _next(paging: Any) -> str:
    if not isinstance(paging, dict) or not paging.get("next"):
        return ""
    cursors = paging.get("cursors")
    cursor = str(cursors.get("after") or "") if isinstance(cursors, dict) else ""
    return cursor if re.fullmatch(r"[A-Za-z0-9_=-]{1,500}", cursor) else ""
