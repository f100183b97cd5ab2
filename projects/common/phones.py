"""Phone numbers, normalized so that a customer is found however their number is written."""

from __future__ import annotations

import re
from collections.abc import Collection

import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberType

LONGEST_SHOWN = 80
# Numbers that cost the sender extra, the classic target of toll fraud.
PREMIUM = frozenset({PhoneNumberType.PREMIUM_RATE, PhoneNumberType.SHARED_COST})


class InvalidPhone(ValueError):
    """Not a phone number. The message says so, and `way` says what to enter."""

    def __init__(self, text: str, *, region: str) -> None:
        super().__init__(f"{text[:LONGEST_SHOWN]} is not a phone number.")
        self.way = f"Write it like {example_phone(region)}, or leave it out if none is known."

    @property
    def sentence(self) -> str:
        """The error and the advice in one text."""
        return f"{self} {self.way}"


class NumberRefused(ValueError):
    """Text messages may not be sent to this number."""


def read_phone(text: str, *, region: str) -> str:
    """The number in E.164; `region` applies to numbers without a country code. Raises NoPhone."""
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException as error:
        raise InvalidPhone(text, region=region) from error
    if not phonenumbers.is_possible_number(number):
        raise InvalidPhone(text, region=region)
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def normalize_phone(text: str, *, region: str) -> str:
    """The number in E.164, or the text unchanged if it is not a number. For searches and stored values."""
    try:
        return read_phone(text, region=region)
    except InvalidPhone:
        return text.strip()


def example_phone(region: str) -> str:
    """An example number of the region, in international form."""
    kind = phonenumbers.PhoneNumberType.MOBILE
    # Some regions have no example numbers.
    number = phonenumbers.example_number_for_type(region, kind) or phonenumbers.example_number_for_type("GB", kind)
    assert number is not None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)


def textable_number(phone: str, *, region: str, countries: Collection[str] = ()) -> str:
    """The number in E.164, if a text message may be sent to it.

    `region` applies to numbers without a country code. `countries` lists the allowed ones; empty allows all. Raises
    NumberRefused with an explanation for the agent.
    """
    number = _parsed(phone, region)
    if number is None or not phonenumbers.is_possible_number(number):
        raise NumberRefused(f"{phone[:40]} is no phone number; ask the customer for it again.")
    country = phonenumbers.region_code_for_number(number) or ""
    if countries and country not in countries:
        raise NumberRefused(
            f"Texts to {country or f'+{number.country_code}'} aren't allowed here; offer another way, or ask for a number "
            f"in {', '.join(sorted(countries))}."
        )
    if phonenumbers.number_type(number) in PREMIUM:
        raise NumberRefused("Texts to numbers that cost more than others aren't allowed; ask for a mobile number.")
    return in_e164(number)


def comparable_number(phone: str) -> str:
    """A number normalized for comparison: E.164 if it has a country code, otherwise its digits."""
    number = _parsed(phone, None)
    return in_e164(number) if number else re.sub(r"\D", "", phone)


def countries_of(value: object) -> frozenset[str]:
    """The countries in a setting like "IT, DE"; empty if it names none. Unknown codes match no number."""
    words = " ".join(map(str, value)) if isinstance(value, list) else value if isinstance(value, str) else ""
    return frozenset(re.findall(r"[A-Z]+", words.upper()))


def in_e164(number: PhoneNumber) -> str:
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def _parsed(phone: str, region: str | None) -> PhoneNumber | None:
    try:
        return phonenumbers.parse(phone, region)
    except phonenumbers.NumberParseException:
        return None
