"""Numbers in the reader's language."""

from __future__ import annotations

from decimal import Decimal

from django.utils.formats import number_format
from django.utils.translation import gettext

SMALL = Decimal("0.1")


def grouped(number: int | float) -> str:
    """A whole number with its thousands grouped: 1,234 or 1.234."""
    return str(number_format(round(number), force_grouping=True))


def decimal(number: float, places: int) -> str:
    """A number with exactly these decimal places: 3.2 or 3,2."""
    return str(number_format(round(number, places), places))


def dollars(amount: Decimal) -> str:
    """US dollars, small amounts to fractions of a cent: $1,234.50 or 1.234,50 $, $0.0123 or 0,0123 $."""
    places = 2 if not amount or amount >= SMALL else 4
    return gettext("$%(amount)s") % {"amount": number_format(round(amount, places), places, force_grouping=True)}
