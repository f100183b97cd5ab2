"""Phone numbers in one form, so that whom they belong to is found by them however they are written."""

from __future__ import annotations

import phonenumbers

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
