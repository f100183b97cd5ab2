"""Zip codes and products from the project's own data."""

from __future__ import annotations

from typing import Any

import pytest

from projects.records.attributes import WrongValue, set_attribute
from tests.tools.bookings.conftest import Bookings
from tools.engine.execution.outcome import Ending
from tools.services.business_data import products, zip_codes

SERVED = ["00184", "00100-00119", "sw1a*", "K1A 0B1", "10001", "1012", "100-0001", "01310100"]
MENU: list[dict[str, Any]] = [
    {"name": "Ravioli with ricotta", "available": True, "price": "€ 15", "note": "vegetarian"},
    {"name": "Ravioli with pumpkin", "available": False, "price": "€ 14"},
    {"name": "Gift voucher", "available": True, "price": 25},
    {"name": "Oxtail", "available": False},
]


@pytest.mark.parametrize(
    ("zip_code", "answer"),
    [
        ("00184", True),
        ("00 184", True),
        ("00110", True),
        ("00120", False),
        ("0110", False),
        ("SW1A 1AA", True),
        ("sw2a 1aa", False),
        ("k1a0b1", True),
        ("10001-1234", True),
        ("100011234", True),
        ("10002-1234", False),
        ("1012 AB", True),
        ("1013 AB", False),
        ("I-00184", True),
        ("I-00185", False),
        ("1000001", True),
        ("０１３１０–１００", True),
        ("٠٠١٨٤", True),
        ("00-184", True),
    ],
)
def test_a_zip_code_is_served_if_the_list_covers_it(zip_code: str, answer: bool) -> None:
    assert zip_codes.is_served(zip_code, zip_codes.check_zip_codes(SERVED)) is answer


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ("00184", "must be a list of up to 5,000 ZIP codes, not text."),
        ([184], ".0 must be text like “00184”, not a number; a number would lose its zeros."),
        (["00184", "00199-00100"], ".1: the range 00199-00100 ends before it begins. Swap the two."),
        (["all of Rome, please"], ".0: “all of Rome, please” isn’t a ZIP code. Use 00184, 00100-00199 or SW1A*."),
    ],
)
def test_an_invalid_list_of_zip_codes_is_refused(value: Any, sentence: str) -> None:
    with pytest.raises(WrongValue) as caught:
        zip_codes.check_zip_codes(value)
    assert str(caught.value) == zip_codes.KEY + (sentence if sentence[0] == "." else f" {sentence}")


@pytest.mark.parametrize(
    ("value", "path"),
    [
        ({"name": "x"}, "products: Input should be a valid list"),
        ([{"name": "x"}], "products.0.available: Field required"),
        ([{"name": "x", "available": "yes"}], "products.0.available: Input should be a valid boolean"),
        ([{"name": "x", "available": True, "stock": 3}], "products.0.stock: Extra inputs are not permitted"),
    ],
)
def test_an_invalid_list_of_products_is_refused(value: Any, path: str) -> None:
    with pytest.raises(WrongValue) as caught:
        products.check_products(value)
    assert path in str(caught.value)
    assert "Write a list of {name, available: true or false, price?, note?}." in str(caught.value)


def test_an_attribute_is_validated_when_it_is_written(bookings: Bookings) -> None:
    """Every entry point uses set_attribute."""
    for key in (zip_codes.KEY, products.KEY):
        with bookings.tenant.tx(), pytest.raises(WrongValue, match=key):
            set_attribute(bookings.project, key, "x")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("00184", "The zip code 00184 is served."),
        ("20121", "The zip code 20121 is not served. Served are 00184, 00100 to 00119, all that begin with SW1A, "),
    ],
)
def test_the_agent_is_told_whether_a_zip_code_is_served(bookings: Bookings, asked: str, told: str) -> None:
    with bookings.tenant.tx():
        set_attribute(bookings.project, zip_codes.KEY, SERVED)
    outcome = bookings.run("check_zip_code_served_tool", zip_code=asked)
    assert outcome.told.startswith(told)
    assert outcome.result["served"] is (asked == "00184")


@pytest.mark.parametrize("words", ["Trastevere", "double-oh one eight four", "?"])
def test_an_invalid_zip_code_is_asked_for_again(bookings: Bookings, words: str) -> None:
    """An unmatched word says nothing about where the customer lives."""
    with bookings.tenant.tx():
        set_attribute(bookings.project, zip_codes.KEY, SERVED)
    outcome = bookings.run("check_zip_code_served_tool", zip_code=words)
    assert (outcome.ending, outcome.told) == (
        Ending.FAILED,
        f"Nothing was checked, because “{words}” is no zip code. Ask for the zip code in digits.",
    )


def test_without_a_list_the_answer_is_unknown(bookings: Bookings) -> None:
    for tool, argument in (
        ("check_zip_code_served_tool", "zip_code"),
        ("check_product_or_service_availability", "product"),
    ):
        outcome = bookings.run(tool, **{argument: "00184"})
        assert outcome.ending is Ending.FAILED
        assert "A colleague has to say." in outcome.told
        assert "Ask" in bookings.run(tool).told


TOLD = {
    "ravioli with ricotta": "Ravioli with ricotta is available, at € 15 (vegetarian).",
    "vouchers": "Gift voucher is available, at 25.",
    "the gift voucher for a friend": "Gift voucher is available, at 25.",
    "ravioli with pumkin": "Ravioli with pumpkin is not available. Available instead: Ravioli with ricotta.",
    "oxtail": "Oxtail is not available. Available instead: Ravioli with ricotta, Gift voucher.",
    "pizza": "“pizza” is not in the list. Available instead: Ravioli with ricotta, Gift voucher.",
}


def test_the_agent_is_told_what_is_available(bookings: Bookings) -> None:
    with bookings.tenant.tx():
        set_attribute(bookings.project, products.KEY, MENU)
    assert {asked: bookings.run("check_product_or_service_availability", product=asked).told for asked in TOLD} == TOLD


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("steak", []),
        ("two teas, please", ["Tea"]),
        ("rice", ["Rice bowl"]),
        ("licorice", ["Licorice"]),
        ("!", []),
        ("有拉面吗", ["拉面"]),
        ("burger", ["Hamburger"]),
    ],
)
def test_a_product_is_found_by_whole_words_only(asked: str, found: list[str]) -> None:
    """ "Tea" is no answer to "steak"."""
    names = ("Tea", "Licorice", "Rice bowl", "Hamburger", "拉面")
    menu = products.read_products([{"name": name, "available": True} for name in names])
    assert [product.name for product in products.find_products(asked, menu)] == found


def test_all_products_that_match_a_word_are_named(bookings: Bookings) -> None:
    with bookings.tenant.tx():
        set_attribute(bookings.project, products.KEY, MENU)
    told = bookings.run("check_product_or_service_availability", product="ravioli").told
    assert told.startswith("Ravioli with ricotta is available")
    assert "Ravioli with pumpkin is not available." in told
