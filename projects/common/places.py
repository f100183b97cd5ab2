"""Time zones and countries to choose from."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias
from unicodedata import combining, normalize
from zoneinfo import available_timezones

from django.utils.translation import get_language

from projects.common.translation import plazy

CITIES = Path(__file__).with_name("city_names.json")
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


def zone_groups() -> Sequence[Group]:
    """The time zones with their cities, grouped by continent or ocean, in the reader's language. UTC is first."""
    return _groups(get_language() or "en")


@cache
def _groups(language: str) -> Sequence[Group]:
    names = _city_names().get(language.partition("-")[0], {})
    groups: dict[str, list[Choice]] = {name: [] for name in CONTINENTS}
    for zone in filter(is_of_place, available_timezones()):
        groups[zone.partition("/")[0]].append((zone, names.get(zone) or city_in_english(zone)))
    sorted_groups = ((CONTINENTS[name], sorted(zones, key=_by_city)) for name, zones in groups.items())
    return [(UTC, [(UTC, UTC)]), *sorted_groups]


def is_of_place(zone: str) -> bool:
    """True for a zone that is named after a place."""
    continent, _, city = zone.partition("/")
    return bool(city) and continent in CONTINENTS


def city_in_english(zone: str) -> str:
    """The city of a zone, as tzdata names it."""
    return zone.partition("/")[2].replace("_", " ").replace("/", ", ")


def _by_city(choice: Choice) -> str:
    """The name without accents, which readers look for at its first letter."""
    return "".join(one for one in normalize("NFKD", choice[1].casefold()) if not combining(one))


@cache
def _city_names() -> Mapping[str, Mapping[str, str]]:
    """Names by language and zone, where they differ from tzdata's. `tests.city_names` writes them."""
    names: dict[str, dict[str, str]] = json.loads(CITIES.read_text(encoding="utf-8"))
    return names


@cache
def country_names() -> Mapping[str, str]:
    """English names of the countries with a phone code, by their ISO code, sorted by name."""
    names: dict[str, str] = json.loads(NAMES.read_text(encoding="utf-8"))
    return dict(sorted(names.items(), key=lambda one: one[1]))


def is_listed_zone(zone: str) -> bool:
    """True if the time zone can be chosen."""
    return any(zone == value for _, zones in zone_groups() for value, _ in zones)
