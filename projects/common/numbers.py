"""Numbers in the reader's language."""

from __future__ import annotations

from django.utils.formats import number_format


def grouped(number: int | float) -> str:
    """A whole number with its thousands grouped: 1,234 or 1.234."""
    return str(number_format(round(number), force_grouping=True))


def decimal(number: float, places: int) -> str:
    """A number with exactly these decimal places: 3.2 or 3,2."""
    return str(number_format(round(number, places), places))
