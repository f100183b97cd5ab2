"""Time zones and countries to choose from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias
from zoneinfo import available_timezones

from projects.common.translation import plazy

NAMES = Path(__file__).with_name("country_names.json")
UTC = "UTC"
# Groups of zones named after a place. The others are old names and fixed offsets.
CONTINENTS: Mapping[str, str] = {
    "Africa": plazy("time zones", "Africa"),
    "America": plazy("time zones", "America"),
    "Antarctica": plazy("time zones", "Antarctica"),
    "Arctic": plazy("time zones", "Arctic"),
    "Asia": plazy("time zones", "Asia"),
    "Atlantic": plazy("time zones", "Atlantic"),
    "Australia": plazy("time zones", "Australia"),
    "Europe": plazy("time zones", "Europe"),
    "Indian": plazy("time zones", "Indian Ocean"),
    "Pacific": plazy("time zones", "Pacific"),
}
Choice: TypeAlias = tuple[str, str]
Group: TypeAlias = tuple[str, list[Choice]]


@cache
def zone_groups() -> Sequence[Group]:
    """The time zones with their cities, grouped by continent or ocean. UTC is first.

    The groups' names are in the reader's language, those of the cities are tzdata's: browsers name no cities.
    """
    groups: dict[str, list[Choice]] = {name: [] for name in CONTINENTS}
    for zone in sorted(available_timezones()):
        continent, _, city = zone.partition("/")
        if city and continent in groups:
            groups[continent].append((zone, city.replace("_", " ").replace("/", ", ")))
    return [(UTC, [(UTC, UTC)]), *((CONTINENTS[name], zones) for name, zones in groups.items())]


@cache
def country_names() -> Mapping[str, str]:
    """English names of the countries with a phone code, by their ISO code, sorted by name."""
    names: dict[str, str] = json.loads(NAMES.read_text(encoding="utf-8"))
    return dict(sorted(names.items(), key=lambda one: one[1]))


def is_listed_zone(zone: str) -> bool:
    """True if the time zone can be chosen."""
    return any(zone == value for _, zones in zone_groups() for value, _ in zones)
