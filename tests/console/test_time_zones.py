"""The list of time zones: cities in the reader's language."""

from __future__ import annotations

import json

import pytest
from django.utils.translation import override

from projects.common.places import CITIES, is_listed_zone, zone_groups
from tests.city_names import collect


def city_of(zone: str, *, language: str) -> str:
    with override(language):
        return dict(choice for _, zones in zone_groups() for choice in zones)[zone]


@pytest.mark.parametrize(
    ("language", "city"), [("en", "Zurich"), ("de", "Zürich"), ("it", "Zurigo"), ("es", "Zúrich"), ("fr", "Zurich")]
)
def test_cities_are_named_in_the_readers_language(language: str, city: str) -> None:
    assert city_of("Europe/Zurich", language=language) == city


def test_cities_are_sorted_by_their_names() -> None:
    with override("de"):
        [europe] = [[name for _, name in zones] for group, zones in zone_groups() if group == "Europa"]
    assert europe.index("Brüssel") < europe.index("Budapest") < europe.index("Zürich")


def test_every_language_lists_the_same_zones() -> None:
    with override("fr"):
        zones = [zone for _, choices in zone_groups() for zone, _ in choices]
    assert len(zones) == len(set(zones)) > 400
    assert all(map(is_listed_zone, zones))


def test_the_names_are_those_of_the_library() -> None:
    """Zones that only one of the two knows are those of another tzdata."""
    stored, fresh = json.loads(CITIES.read_text(encoding="utf-8")), collect()
    assert stored.keys() == fresh.keys()
    for language, names in fresh.items():
        assert {zone: names[zone] for zone in names.keys() & stored[language]} == {
            zone: stored[language][zone] for zone in names.keys() & stored[language]
        }
