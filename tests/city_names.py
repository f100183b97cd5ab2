"""The cities of time zones in the console's languages, from the Unicode CLDR: `python -m tests.city_names` writes the file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any
from zoneinfo import available_timezones

from babel import Locale
from babel.core import get_global

from projects.common.places import CITIES, city_in_english, is_of_place

LANGUAGES = ("de", "es", "fr", "it")


def collect() -> dict[str, dict[str, str]]:
    """The names that differ from the English ones, by language and zone."""
    return {language: dict(_names(Locale(language).time_zones)) for language in LANGUAGES}


def as_json() -> str:
    return json.dumps(collect(), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def _names(known: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    for zone in sorted(filter(is_of_place, available_timezones())):
        city = next((str(known[one]["city"]) for one in _same(zone) if "city" in known.get(one, {})), "")
        if city and city != city_in_english(zone):
            yield zone, city


def _same(zone: str) -> Iterator[str]:
    """The zone, and its names before and after it was renamed."""
    yield zone
    for old, new in get_global("zone_aliases").items():
        if zone in (old, new):
            yield new if zone == old else old


if __name__ == "__main__":
    CITIES.write_text(as_json(), encoding="utf-8")
