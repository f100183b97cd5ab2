"""Values for JSON Schema properties, matched by name and description."""

from __future__ import annotations

import re
from typing import Any

from offline_model.entities import (
    EMAIL,
    PHONE,
    find_day,
    find_diet,
    find_email,
    find_name,
    find_party,
    find_phone,
    find_time,
)
from offline_model.slots import Slots, clock_time

ORDER = re.compile(
    r"\b(?:order|booking|reference|ticket)?\s*(?:number|no\.?|id|#|code)?\s*[#:]?\s*([A-Z]{0,4}-?\d{3,12}|"
    r"[A-Z]{2,}\d+)\b"
)
ZIP = re.compile(r"\b\d{4,5}(?:-\d{4})?\b|\b[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}\b")
CODE = re.compile(r"\b\d{3}[ -]?\d{3}\b")
SLUG = re.compile(r"\b[a-z0-9]+(?:-[a-z0-9]+)+\b")


class FieldFinder:
    """Finds values in the conversation; `newest` is the text that matters most."""

    def __init__(self, *, slots: Slots, newest: str, everything: str, today: str = "") -> None:
        self.slots = slots
        self.newest = newest
        self.everything = everything
        self.today = today

    def find(self, name: str, schema: dict[str, Any]) -> Any:
        """A value that fits the property, or None."""
        if schema.get("enum"):
            return self._chosen(schema["enum"])
        kind = schema.get("type", "string")
        kinds = kind if isinstance(kind, list) else [kind]
        text = self._text_for(f"{name} {schema.get('description', '')}".lower().replace("_", " "), schema, name)
        if text is None or text == "":
            return None
        return _cast(text, kinds, schema)

    def _chosen(self, options: list[Any]) -> Any:
        low = self.everything.lower()
        return next(
            (one for one in options if isinstance(one, str) and re.search(rf"\b{re.escape(one.lower())}\b", low)), None
        )

    def _text_for(self, about: str, schema: dict[str, Any], name: str) -> str | None:
        if schema.get("format") == "email" or re.search(r"\be-?mail\b|recipient|\bto address", about):
            found = find_email(self.newest) or find_email(self.everything)
            return self.slots.get("email") or (found.value if found else None)
        for pattern, value in self._simple():
            if re.search(pattern, about):
                found_text: str | None = value()
                return found_text
        if re.search(r"\b(?:subject|title|headline)\b", about):
            return _headline(self.newest or self.everything)
        if re.search(
            r"\b(?:message|text|body|content|note|notes|reason|query|question|summary|details|description|"
            r"request|comment|why|what)\b",
            f"{name.replace('_', ' ')} {about}",
        ):
            return self.newest or self.everything[-300:]
        return None

    def _simple(self) -> tuple[tuple[str, Any], ...]:
        g, newest, all_text = self.slots, self.newest, self.everything
        return (
            (r"phone|mobile|telephone|msisdn", lambda: g.get("phone") or _value(find_phone(all_text))),
            (
                r"\bparty\b|guests|people|persons|covers|party size|group size|seats",
                lambda: g.get("party_size") or _value(find_party(all_text)),
            ),
            (r"allerg|diet", lambda: g.get("diet") or _value(find_diet(all_text))),
            (r"\btime\b(?!zone)|\bhour\b", lambda: _time(g.get("time") or _value(find_time(all_text)))),
            (r"\bdate\b|\bday\b", lambda: g.get("date") or _value(find_day(all_text))),
            (r"zip|post ?code|postal", lambda: _match(ZIP, newest) or _match(ZIP, all_text)),
            (r"six digits", lambda: found[0] if (found := CODE.search(newest)) else None),
            (r"slug", lambda: _match(SLUG, newest) or _match(SLUG, all_text)),
            (
                r"order (?:number|id|no)|reference|booking code|ticket (?:number|id)",
                lambda: _match(ORDER, newest) or _match(ORDER, all_text),
            ),
            (r"language", lambda: g.get("language")),
            (
                r"\bname\b(?! of the (?:product|item|service))",
                lambda: g.get("name") or _value(find_name(all_text, asked=False)),
            ),
        )


def _value(found: Any) -> str | None:
    return found.value if found else None


def _match(pattern: re.Pattern[str], text: str) -> str | None:
    match = pattern.search(PHONE.sub(" ", EMAIL.sub(" ", text)))
    return (match[1] if pattern.groups else match[0]) if match else None


def _time(text: str | None) -> str | None:
    return clock_time(text) if text else None


def _headline(text: str) -> str:
    return " ".join(text.split())[:80].rstrip(" ,.;:")


def _cast(text: str, kinds: list[str], schema: dict[str, Any]) -> Any:
    if "integer" in kinds or "number" in kinds:
        match = re.search(r"-?\d+(?:\.\d+)?", text)
        if not match:
            return None
        number = float(match[0])
        number = min(max(number, schema.get("minimum", number)), schema.get("maximum", number))
        return int(number) if "integer" in kinds else number
    if "boolean" in kinds:
        return None
    if "string" not in kinds:
        return None
    if schema.get("pattern") and not re.search(schema["pattern"], text):
        return None
    limit = schema.get("maxLength")
    fits = len(text) >= schema.get("minLength", 0)
    return (text if limit is None else text[:limit]) if fits and not _wrong_format(text, schema) else None


def _wrong_format(text: str, schema: dict[str, Any]) -> bool:
    patterns = {
        "date": r"\d{4}-\d\d-\d\d",
        "time": r"\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:\d\d)?",
        "date-time": r"\d{4}-\d\d-\d\dT.*",
    }
    wanted = patterns.get(schema.get("format", ""))
    return wanted is not None and not re.fullmatch(wanted, text)
