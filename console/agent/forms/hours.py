"""Opening hours, holidays, time zone and region."""

from __future__ import annotations

from typing import Any, get_args

from console.agent.form_fields import FormFields
from console.agent.nested_form_data import Node, part_of, rows_of, text_of
from projects.common.places import country_names, is_listed_zone, zone_groups
from projects.common.translation import lazy
from projects.models.agent_config import Day

DAYS: tuple[Day, ...] = get_args(Day)
NAMES = (
    lazy("Monday"),
    lazy("Tuesday"),
    lazy("Wednesday"),
    lazy("Thursday"),
    lazy("Friday"),
    lazy("Saturday"),
    lazy("Sunday"),
)
ALWAYS, AT_HOURS = "always", "hours"
NO_HOURS = lazy("Enter hours for at least one day, or choose “Always open”.")
# Index placeholder in the <template> elements that the script clones.
NEW = "__i__"


def read(entries: Node) -> dict[str, Any]:
    days = part_of(entries, "hours")
    hours = {day: _read_spans(days, day) for day in DAYS} if text_of(entries, "open") != ALWAYS else {}
    holidays = [text for row in rows_of(entries, "holidays") if (text := text_of(row, "date"))]
    place = {name: text_of(entries, name) for name in ("timezone", "region")}
    return {**place, "hours": hours, "holidays": holidays}


def problems(changes: dict[str, Any]) -> dict[str, str]:
    """Reject opening hours without any span: the business would never open."""
    hours = changes["hours"]
    return {"open": NO_HOURS} if hours and not any(hours.values()) else {}


def show(document: dict[str, Any], fields: FormFields) -> dict[str, Any]:
    hours = document["hours"]
    zone, region = fields.field("timezone", document["timezone"]), fields.field("region", document["region"])
    return {
        "timezone": zone,
        "region": region,
        "zones": zone_groups(),
        "countries": country_names().items(),
        # An old name or a fixed offset, or an invalid one beside its error.
        "other_zone": "" if is_listed_zone(zone.value) else zone.value,
        "other_country": "" if region.value in country_names() else region.value,
        "open": fields.field("open", AT_HOURS if hours else ALWAYS),
        "days": [_day(fields, day, NAMES[at], hours.get(day, [])) for at, day in enumerate(DAYS)],
        "new_span": _span(fields, "__day__", NEW, ["", ""]),
        "holidays": [_holiday(fields, index, text) for index, text in enumerate([*document["holidays"], ""])],
        "holidays_error": fields.error("holidays"),
        "new_holiday": _holiday(fields, NEW, ""),
        "times": [f"{hour:02}:{minute:02}" for hour in range(24) for minute in (0, 30)] + ["24:00"],
    }


def _read_spans(days: Node, day: str) -> list[list[str]]:
    spans = [[text_of(span, "0"), text_of(span, "1")] for span in rows_of(days, day)]
    return [span for span in spans if any(span)]


def _day(fields: FormFields, day: str, name: str, spans: list[list[str]]) -> dict[str, Any]:
    shown = [_span(fields, day, index, span) for index, span in enumerate(spans or [["", ""]])]
    return {"day": day, "name": name, "spans": shown, "error": fields.error(f"hours.{day}")}


def _span(fields: FormFields, day: str, index: int | str, span: list[str]) -> dict[str, Any]:
    path = f"hours.{day}.{index}"
    return {
        "opens": fields.field(f"{path}.0", span[0]),
        "closes": fields.field(f"{path}.1", span[1]),
        "error": fields.error(path),
    }


def _holiday(fields: FormFields, index: int | str, text: str) -> dict[str, Any]:
    found = fields.field(f"holidays.{index}", text)
    return {"index": index, "value": text, "error": found.error}
