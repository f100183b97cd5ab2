"""Phone numbers in one form, so that a booking is found by its number however it is written."""

from __future__ import annotations

import phonenumbers


def normal_phone(text: str, *, region: str) -> str:
    """The number as E.164, read as from the region where it names no country; what can't be one stays as it is."""
    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return text.strip()
    if not phonenumbers.is_possible_number(number):
        return text.strip()
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
