"""Phone numbers, normalized so that a customer is found however their number is written."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import phonenumbers
import phonenumbers.timezone
from phonenumbers import PhoneMetadata, PhoneNumber, PhoneNumberType

LONGEST_SHOWN = 80
# Numbers that cost the sender extra, the classic target of toll fraud.
PREMIUM = frozenset({PhoneNumberType.PREMIUM_RATE, PhoneNumberType.SHARED_COST, PhoneNumberType.PERSONAL_NUMBER})
# The region of satellite networks and of other numbers that belong to no country.
NO_COUNTRY = "001"
DEFAULT_REGION, DEFAULT_TIMEZONE = "US", "UTC"
AMERICAN_ZONES = ("America/", "US/", "Pacific/Honolulu")


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


def readable_phone(text: str) -> str:
    """A number in E.164 with spaces for people, or the text unchanged if it is not one."""
    try:
        number = phonenumbers.parse(text)
    except phonenumbers.NumberParseException:
        return text
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)


def zone_of_number(text: str, *, at: datetime) -> ZoneInfo | None:
    """The time zone of a number in E.164. None if its country has several, and the number doesn't say which."""
    try:
        names = phonenumbers.timezone.time_zones_for_number(phonenumbers.parse(text))
        zones = [ZoneInfo(name) for name in names]
    except (phonenumbers.NumberParseException, ZoneInfoNotFoundError, ValueError):
        return None
    return zones[0] if zones and len({at.astimezone(zone).utcoffset() for zone in zones}) == 1 else None


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
    if countries and not _is_in(number, countries):
        country = phonenumbers.region_code_for_number(number) or f"+{number.country_code}"
        raise NumberRefused(
            f"Texts to {country} aren't allowed here; offer another way, or ask for a number in "
            f"{', '.join(sorted(countries))}."
        )
    if _costs_more(number):
        raise NumberRefused("Texts to numbers that cost more than others aren't allowed; ask for a mobile number.")
    return in_e164(number)


def home_countries(*, region: str, timezone: str) -> frozenset[str]:
    """The country of a business; empty if it is unknown.

    The default region may only mean that nobody has set it, so it counts if the time zone is American, too.
    """
    is_default = region == DEFAULT_REGION and not timezone.startswith(AMERICAN_ZONES)
    return frozenset() if is_default else frozenset({region})


def _is_in(number: PhoneNumber, countries: Collection[str]) -> bool:
    """True if the number is in one of the countries. One in no known range counts by its calling code."""
    country = phonenumbers.region_code_for_number(number)
    if country is not None:
        return country in countries
    return any(phonenumbers.country_code_for_region(one) == number.country_code for one in countries)


def _costs_more(number: PhoneNumber) -> bool:
    """True for premium, shared-cost, personal and satellite numbers, also of a wrong length."""
    kind = phonenumbers.number_type(number)
    calling_code = number.country_code or 0
    if kind in PREMIUM or phonenumbers.region_code_for_country_code(calling_code) == NO_COUNTRY:
        return True
    return kind == PhoneNumberType.UNKNOWN and any(
        _begins_premium(number, region) for region in phonenumbers.region_codes_for_country_code(calling_code)
    )


def _begins_premium(number: PhoneNumber, region: str) -> bool:
    """True if the digits begin like a premium number of the region, which some networks complete or cut."""
    metadata = PhoneMetadata.metadata_for_region(region, None)
    premium = metadata.premium_rate if metadata else None
    if premium is None or not premium.national_number_pattern:
        return False
    digits = phonenumbers.national_significant_number(number)
    lengths = (length for length in premium.possible_length if length > 0)
    return any(re.fullmatch(premium.national_number_pattern, digits.ljust(n, "0")[:n]) for n in lengths)


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
