"""WhatsApp's templates: those of a business account, and one filled in, to be sent after the window has closed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from django.utils.translation import gettext, gettext_noop

from conversations.channels.items import clean_text
from conversations.channels.whatsapp import graph_api
from projects.connections.integrations import Connection
from projects.connections.settings.whatsapp import WhatsAppSettings

TEMPLATE = "template"
APPROVED = "APPROVED"
MOST_PAGES, PAGE = 5, 100
LONGEST_VALUE = 1_000
VARIABLE = re.compile(r"\{\{\s*([A-Za-z0-9_]+)\s*\}\}")
# Why a template of a status can't be sent.
PROBLEMS: Mapping[str, str] = {
    "PAUSED": gettext_noop("Meta has paused it, because customers reported it."),
    "DISABLED": gettext_noop("Meta has disabled it, because customers reported it too often."),
    "REJECTED": gettext_noop("Meta has rejected it."),
    "PENDING": gettext_noop("Meta hasn’t approved it yet."),
    "IN_APPEAL": gettext_noop("Meta hasn’t decided about your appeal yet."),
}


class NoTemplates(Exception):
    """The templates can't be listed, for the given reason."""


@dataclass(frozen=True)
class Variable:
    """A gap of a template: the part it is in, `header` or `body`, and its name or number."""

    component: str
    name: str

    @property
    def key(self) -> str:
        """Its name in the values; that of the header's differs from the body's of the same number."""
        return self.name if self.component == "body" else f"{self.component}.{self.name}"


@dataclass(frozen=True)
class Template:
    """A template in one language. `problem` says why it can't be sent; empty if it can."""

    name: str
    language: str
    header: str
    body: str
    footer: str
    problem: str

    @property
    def variables(self) -> list[Variable]:
        """Each once, in the order of the text."""
        parts = (("header", self.header), ("body", self.body))
        found = (Variable(part, name) for part, text in parts for name in VARIABLE.findall(text))
        return list(dict.fromkeys(found))

    @property
    def text(self) -> str:
        return "\n\n".join(part for part in (self.header, self.body, self.footer) if part)

    def filled(self, values: Mapping[str, str]) -> str:
        """The text as the customer reads it."""

        def fill(part: str, text: str) -> str:
            return VARIABLE.sub(lambda gap: values[Variable(part, gap[1]).key], text)

        parts = (fill("header", self.header), fill("body", self.body), self.footer)
        return "\n\n".join(part for part in parts if part)

    def sent_form(self, values: Mapping[str, str]) -> dict[str, Any]:
        """The template of a message, as Meta takes it."""
        parts = [
            {"type": part, "parameters": [_parameter(one, values[one.key]) for one in variables]}
            for part in ("header", "body")
            if (variables := [one for one in self.variables if one.component == part])
        ]
        return {"name": self.name, "language": {"code": self.language}, "components": parts}


async def list_templates(connection: Connection) -> list[Template]:
    """The templates of the business account, by name. Raises NoTemplates."""
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
        found += _read(answer.document.get("data"))
        cursor = _next(answer.document.get("paging"))
        if not cursor:
            break
        after = f"&after={cursor}"
    return sorted(found, key=lambda one: (bool(one.problem), one.name, one.language))


def find_template(templates: Iterable[Template], name: str, language: str) -> Template | None:
    """The template; of one in several languages the first, if none is named."""
    same = (one for one in templates if one.name == name and language in ("", one.language))
    return next(same, None)


def check_values(template: Template, values: Mapping[str, str]) -> str:
    """Why the template can't be sent with these values, in a sentence; empty if it can."""
    if template.problem:
        return template.problem
    known = [one.key for one in template.variables]
    if missing := [key for key in known if not values.get(key, "").strip()]:
        return gettext("Fill in %(names)s.") % {"names": ", ".join(missing)}
    if unknown := [key for key in values if key not in known]:
        return gettext("The template has no %(names)s.") % {"names": ", ".join(unknown)}
    # Meta refuses these.
    if any(re.search(r"[\n\t]| {4}", value) for value in values.values()):
        return gettext("A value is one line, without tabs.")
    return ""


def _read(rows: Any) -> list[Template]:
    return [_template(row) for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _template(row: Mapping[str, Any]) -> Template:
    parts = {str(one.get("type")): one for one in row.get("components") or [] if isinstance(one, dict)}
    header, body = parts.get("HEADER", {}), parts.get("BODY", {})
    return Template(
        name=clean_text(row.get("name"))[:512],
        language=clean_text(row.get("language"))[:20],
        header=clean_text(header.get("text")),
        body=clean_text(body.get("text")),
        footer=clean_text(parts.get("FOOTER", {}).get("text")),
        problem=_problem(row, parts),
    )


def _problem(row: Mapping[str, Any], parts: Mapping[str, Mapping[str, Any]]) -> str:
    status = clean_text(row.get("status"))
    if status != APPROVED:
        known = PROBLEMS.get(status)
        return gettext(known) if known else gettext("Meta says: %(status)s.") % {"status": status[:40]}
    if parts.get("HEADER", {}).get("format", "TEXT") != "TEXT":
        return gettext("It begins with a file or a place, which can’t be filled in here.")
    buttons = parts.get("BUTTONS", {}).get("buttons") or []
    if any(VARIABLE.search(str(one.get("url", ""))) for one in buttons if isinstance(one, dict)):
        return gettext("The address of its button has a gap, which can’t be filled in here.")
    return ""


def _parameter(variable: Variable, value: str) -> dict[str, str]:
    named = {} if variable.name.isdecimal() else {"parameter_name": variable.name}
    return {"type": "text", **named, "text": value.strip()[:LONGEST_VALUE]}


def _next(paging: Any) -> str:
    if not isinstance(paging, dict) or not paging.get("next"):
        return ""
    cursors = paging.get("cursors")
    cursor = str(cursors.get("after") or "") if isinstance(cursors, dict) else ""
    return cursor if re.fullmatch(r"[A-Za-z0-9_=-]{1,500}", cursor) else ""
