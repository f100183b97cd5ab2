"""Phone numbers in one form, so that whom they belong to is found by them however they are written."""

from __future__ import annotations

import re
from collections.abc import Collection

import phonenumbers
from phonenumbers import PhoneNumber, PhoneNumberType

LONGEST_SHOWN = 80


class NoPhone(ValueError):
    """The words are no phone number; the message says so, and `way` what would be one."""

    def __init__(self, text: str, *, region: str) -> None:
        super().__init__(f"{text[:LONGEST_SHOWN]} is not a phone number.")
        self.way = f"Write it like {example_phone(region)}, or leave it out where none is known."

    @property
    def sentence(self) -> str:
        """What is wrong, and what would be right."""
        return f"{self} {self.way}"


def read_phone(text: str, *, region: str) -> str:
    """The number as E.164, read as one of the region where it names no country. Raises NoPhone."""
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException as error:
        raise NoPhone(text, region=region) from error
    if not phonenumbers.is_possible_number(number):
        raise NoPhone(text, region=region)
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def normal_phone(text: str, *, region: str) -> str:
    """The same for what is looked for or on file already: what can't be a number stays as it is."""
    try:
        return read_phone(text, region=region)
    except NoPhone:
        return text.strip()


def example_phone(region: str) -> str:
    """A number as they are in the region, with its country."""
    kind = phonenumbers.PhoneNumberType.MOBILE
    # One island has none of its own.
    number = phonenumbers.example_number_for_type(region, kind) or phonenumbers.example_number_for_type("GB", kind)
    assert number is not None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)


# Who calls or texts them pays more than for a message: the classic way to make money of somebody else's agent.
DEAR = frozenset({PhoneNumberType.PREMIUM_RATE, PhoneNumberType.SHARED_COST})


class NumberRefused(ValueError):
    """No text may go to this number."""


def number_to_text(phone: str, *, region: str, countries: Collection[str] = ()) -> str:
    """The number in E.164; `region` is whose it is where it names no country, `countries` those allowed, all for none.

    Raises NumberRefused with a sentence for the agent.
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
    if phonenumbers.number_type(number) in DEAR:
        raise NumberRefused("Texts to numbers that cost more than others aren't allowed; ask for a mobile number.")
    return in_e164(number)


def same_number(phone: str) -> str:
    """A number as it is compared: in E.164 where it names its country, else its digits."""
    number = _parsed(phone, None)
    return in_e164(number) if number else re.sub(r"\D", "", phone)


def countries_of(value: object) -> frozenset[str]:
    """The countries of a setting like "IT, DE"; empty where it names none. A word that is no country's allows nothing."""
    words = " ".join(map(str, value)) if isinstance(value, list) else value if isinstance(value, str) else ""
    return frozenset(re.findall(r"[A-Z]+", words.upper()))


def in_e164(number: PhoneNumber) -> str:
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)


def _parsed(phone: str, region: str | None) -> PhoneNumber | None:
    try:
        return phonenumbers.parse(phone, region)
    except phonenumbers.NumberParseException:
        return None
