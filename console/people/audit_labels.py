"""Names of the fields and values of the audit log, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from django.utils.translation import gettext

from console.timestamps import format_timestamp
from conversations.common.field_labels import field_label, language_name
from projects.common.translation import lazy, plazy
from projects.connections.integration_types import KINDS
from projects.models import AuditAction, AuditEntry, Role
from projects.models.key import Scope
from projects.records.audit import SERVER
from projects.widget.widgets import TITLES
from tools.engine.limits.catalogue import RULES, amount_of

FIELDS: Mapping[str, str] = {
    **TITLES,
    "added": lazy("Raised by"),
    "approved_todos": lazy("Approved todos"),
    "body": lazy("Text"),
    "bookings": lazy("Bookings"),
    "consents_refused": lazy("Opt-outs"),
    "conversations": lazy("Conversations"),
    "customer": lazy("Customer"),
    "customers": lazy("Customers"),
    "developer_tools": lazy("Developer tools"),
    "due": lazy("Due"),
    "erasure": lazy("Erasure"),
    "excerpt": lazy("Summary"),
    "expires": lazy("Expires"),
    "filters": lazy("Filters"),
    "greeting": lazy("Greeting"),
    "kept": lazy("Kept customer"),
    "merged": lazy("Merged customer"),
    "most": lazy("Limit"),
    "name": lazy("Name"),
    "not_moved": lazy("Not moved"),
    "promises": lazy("Promises"),
    "published": lazy("Published"),
    "records": lazy("Removed"),
    "role": lazy("Role"),
    "scopes": lazy("Permissions"),
    "sites": lazy("Websites"),
    "switched_on": lazy("Switched on"),
    "title": lazy("Title"),
    "todos": lazy("Todos"),
}
WORDS: Mapping[str, str] = {
    "yes": lazy("Yes"),
    "no": lazy("No"),
    "on": lazy("On"),
    "off": lazy("Off"),
    "never": lazy("Never"),
    "left": lazy("Left"),
    "right": lazy("Right"),
    "auto": lazy("Automatic"),
    "light": lazy("Light"),
    "dark": lazy("Dark"),
}
# Actors and subjects that are stored in English.
ACTORS: Mapping[str, str] = {SERVER: lazy("The server administrator")}
SUBJECTS: Mapping[str, str] = {
    "a customer": lazy("a customer"),
    "the widget": lazy("the widget"),
    "audit log": plazy("exported", "the audit log"),
    "bookings": plazy("exported", "the bookings"),
    "conversations": plazy("exported", "the conversations"),
    "effects": plazy("exported", "the effects"),
    "promises": plazy("exported", "the promises"),
    "tickets": plazy("exported", "the tickets"),
    "todos": plazy("exported", "the todos"),
    "usage": plazy("exported", "the usage"),
}
# Their subject is the type's name; earlier entries have its title in their author's language.
OF_INTEGRATIONS = (AuditAction.CONNECTED, AuditAction.CONNECTION_CHANGED, AuditAction.DISCONNECTED)
# Fields whose values are a word of ours.
WORDED = {"language", "published", "switched_on", "developer_tools", "position", "scheme", "call_button"}


@dataclass(frozen=True)
class Change:
    """One changed value; empty where there was none before or is none after."""

    name: str
    before: str
    after: str


def subject_of(entry: AuditEntry) -> str:
    """The subject of the entry. A limit is named in the reader's language, with its amount among the changes."""
    if entry.action == AuditAction.LIMIT_CHANGED:
        return gettext("the limit of the project") if entry.project_name else gettext("the limit of the organization")
    if entry.action == AuditAction.LIMIT_LIFTED and entry.after.get("limit") in RULES:
        return amount_of(entry.after["limit"], entry.after["added"])
    if entry.action in OF_INTEGRATIONS and entry.subject in KINDS:
        return str(KINDS[entry.subject].title)
    return str(SUBJECTS.get(entry.subject, entry.subject))


def actor_of(entry: AuditEntry) -> str:
    return str(ACTORS.get(entry.actor, entry.actor))


def list_changes(before: dict[str, Any], after: dict[str, Any]) -> Iterator[Change]:
    """The values that differ, by their names for people."""
    limit = after.get("limit", before.get("limit"))
    for name in dict.fromkeys((*before, *after)):
        was, is_now = (_value(name, values[name], limit) if name in values else "" for values in (before, after))
        if was != is_now:
            yield Change(_label(name), was, is_now)


def _label(name: str) -> str:
    known = FIELDS.get(name) or _settings().get(name, ("", {}))[0]
    return gettext(known) if known else field_label(name)


def _value(name: str, value: Any, limit: str | None) -> str:
    """A value as text: lists joined by commas, None as an empty string."""
    if isinstance(value, Mapping):
        return ", ".join(f"{_label(key)}: {_value(key, one, None)}" for key, one in value.items())
    if isinstance(value, list):
        return ", ".join(_value(name, one, None) for one in value)
    if value is None:
        return ""
    if name in ("most", "added") and limit in RULES:
        return amount_of(str(limit), int(value))
    return "" if name == "limit" else _word(name, str(value))


def _word(name: str, text: str) -> str:
    if name in WORDED or text == "never":
        return str(WORDS.get(text) or language_name(text))
    match name:
        case "role" if text in Role:
            return Role(text).label.partition(": ")[0]
        case "scopes" if text in Scope:
            return str(Scope(text).label)
        case "not_moved" | "consents_refused":
            return field_label(text)
        case "expires" | "due":
            return format_timestamp(datetime.fromisoformat(text)).exact
    choice = _settings().get(name, ("", {}))[1].get(text)
    return gettext(choice) if choice else text


@cache
def _settings() -> Mapping[str, tuple[str, Mapping[str, str]]]:
    """The title of each setting of an integration, and the names of its values."""
    fields = (one for kind in KINDS.values() for one in kind.settings.model_fields.items())
    return {name: (field.title or "", _choices(field.json_schema_extra)) for name, field in fields}


def _choices(extra: Any) -> Mapping[str, str]:
    return {key: str(name) for key, name in extra.items()} if isinstance(extra, Mapping) else {}
