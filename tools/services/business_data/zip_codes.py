"""Zip codes that a business serves: `project_attributes_served_zip_codes`.

A list of texts: a code (`00184`), a prefix (`SW1A*`), or a range of numbers of equal length (`00100-00199`). Spaces,
case, hyphens and the script of digits are ignored.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext

from projects.common.numbers import grouped
from projects.records.attributes import WrongValue, type_name

KEY = "project_attributes_served_zip_codes"
MOST, SHOWN = 5_000, 12
CODE = re.compile(r"[A-Z0-9]{2,10}|[A-Z0-9]{2,5}-[A-Z0-9]{2,5}")
START = re.compile(r"[A-Z0-9]{1,9}\*")
RANGE = re.compile(r"(\d{2,10})-(\d{2,10})")
# Longer codes that are served if their base is: US ZIP+4, Dutch codes with letters, and codes with a country prefix.
LONGER = (re.compile(r"(\d{5})-?\d{4}"), re.compile(r"(\d{4})[A-Z]{2}"), re.compile(r"[A-Z]{1,3}-(\d{4,6})"))


def check_zip_codes(value: Any) -> list[str]:
    """Validate and normalize the list. Raises WrongValue with the path of the error."""
    if not isinstance(value, list) or len(value) > MOST:
        found = f"{len(value):,} of them" if isinstance(value, list) else type_name(value)
        raise WrongValue(
            gettext("%(key)s must be a list of up to %(most)s ZIP codes, not %(found)s.")
            % {"key": KEY, "most": grouped(MOST), "found": found}
        )
    return [_checked(index, one) for index, one in enumerate(value)]


def is_served(zip_code: str, served: Sequence[str]) -> bool:
    """Return True if a code, as a customer wrote it, is served."""
    code = normal_zip_code(zip_code)
    codes = [code, *(found[1] for form in LONGER if (found := form.fullmatch(code)))]
    return any(_covers(entry, one) for entry in served for one in codes)


def is_zip_code(text: str) -> bool:
    """Return True if the text can be a zip code: names of towns and numbers in words have no digits."""
    return any(letter.isdigit() for letter in normal_zip_code(text))


def normal_zip_code(text: str) -> str:
    """Normalize to capital letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKC", text).upper().replace("–", "-")
    return re.sub(r"[^A-Z0-9*-]", "", "".join(str(unicodedata.decimal(letter, letter)) for letter in plain))


def served_words(served: Sequence[str]) -> str:
    """List the codes in a sentence, shortened if there are many."""
    shown = ", ".join(_words(entry) for entry in served[:SHOWN])
    return f"{shown} and {len(served) - SHOWN} more" if len(served) > SHOWN else shown


def _checked(index: int, entry: Any) -> str:
    place = f"{KEY}.{index}"
    if not isinstance(entry, str):
        raise WrongValue(
            gettext("%(place)s must be text like “00184”, not %(entry)s; a number would lose its zeros.")
            % {"place": place, "entry": type_name(entry)}
        )
    code = normal_zip_code(entry)
    bounds = _range(code)
    if bounds and bounds[0] > bounds[1]:
        raise WrongValue(
            gettext("%(place)s: the range %(value)s ends before it begins. Swap the two.")
            % {"place": place, "value": entry[:30]}
        )
    if not (bounds or CODE.fullmatch(code) or START.fullmatch(code)):
        raise WrongValue(
            gettext("%(place)s: “%(value)s” isn’t a ZIP code. Use 00184, 00100-00199 or SW1A*.")
            % {"place": place, "value": entry[:30]}
        )
    return code


def _range(code: str) -> tuple[str, str] | None:
    """Return the bounds of a range. Bounds of different lengths are a single code, such as 12345-6789."""
    found = RANGE.fullmatch(code)
    return (found[1], found[2]) if found and len(found[1]) == len(found[2]) else None


def _covers(entry: str, code: str) -> bool:
    if entry.endswith("*"):
        return code.startswith(entry[:-1])
    if bounds := _range(entry):
        return code.isdigit() and len(code) == len(bounds[0]) and bounds[0] <= code <= bounds[1]
    return code.replace("-", "") == entry.replace("-", "")


def _words(entry: str) -> str:
    if bounds := _range(entry):
        return f"{bounds[0]} to {bounds[1]}"
    return f"all that begin with {entry[:-1]}" if entry.endswith("*") else entry
