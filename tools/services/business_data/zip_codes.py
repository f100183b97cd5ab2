"""The zip codes that a business serves: `project_attributes_served_zip_codes`.

A list of texts: a code (`00184`), the first characters of codes (`SW1A*`), or a range of numbers of one length
(`00100-00199`). Spaces, small letters and hyphens make no difference, nor does the script that digits are typed in.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from projects.records.attributes import WrongValue, type_name

KEY = "project_attributes_served_zip_codes"
MOST, SHOWN = 5_000, 12
CODE = re.compile(r"[A-Z0-9]{2,10}|[A-Z0-9]{2,5}-[A-Z0-9]{2,5}")
START = re.compile(r"[A-Z0-9]{1,9}\*")
RANGE = re.compile(r"(\d{2,10})-(\d{2,10})")
# What says more than a list does, and is served where its part is: a ZIP+4 code of the United States, a Dutch code with its
# street, and one that has its country before it.
LONGER = (re.compile(r"(\d{5})-?\d{4}"), re.compile(r"(\d{4})[A-Z]{2}"), re.compile(r"[A-Z]{1,3}-(\d{4,6})"))


def check_zip_codes(value: Any) -> list[str]:
    """The list as it is kept. Raises WrongValue with the place of what is wrong."""
    if not isinstance(value, list) or len(value) > MOST:
        found = f"{len(value):,} of them" if isinstance(value, list) else type_name(value)
        raise WrongValue(f"{KEY} must be a list of up to {MOST:,} zip codes, not {found}.")
    return [_checked(index, one) for index, one in enumerate(value)]


def is_served(zip_code: str, served: Sequence[str]) -> bool:
    """Whether a code, as a customer wrote it, is among those served."""
    code = normal_zip_code(zip_code)
    codes = [code, *(found[1] for form in LONGER if (found := form.fullmatch(code)))]
    return any(_covers(entry, one) for entry in served for one in codes)


def is_zip_code(text: str) -> bool:
    """Whether it can be one: the name of a town, or a number in words, has no digit."""
    return any(letter.isdigit() for letter in normal_zip_code(text))


def normal_zip_code(text: str) -> str:
    """Capital letters and digits; a hyphen stays."""
    plain = unicodedata.normalize("NFKC", text).upper().replace("–", "-")
    return re.sub(r"[^A-Z0-9*-]", "", "".join(str(unicodedata.decimal(letter, letter)) for letter in plain))


def served_words(served: Sequence[str]) -> str:
    """The list for a sentence, cut where it is long."""
    shown = ", ".join(_words(entry) for entry in served[:SHOWN])
    return f"{shown} and {len(served) - SHOWN} more" if len(served) > SHOWN else shown


def _checked(index: int, entry: Any) -> str:
    place = f"{KEY}.{index}"
    if not isinstance(entry, str):
        raise WrongValue(f"{place} must be text like “00184”, not {type_name(entry)}; a number would lose its zeros.")
    code = normal_zip_code(entry)
    bounds = _range(code)
    if bounds and bounds[0] > bounds[1]:
        raise WrongValue(f"{place}: the range {entry[:30]} ends before it begins; swap the two.")
    if not (bounds or CODE.fullmatch(code) or START.fullmatch(code)):
        raise WrongValue(f"{place}: “{entry[:30]}” is no zip code; write 00184, 00100-00199 or SW1A*.")
    return code


def _range(code: str) -> tuple[str, str] | None:
    """The bounds of a range. Sides of two lengths are one code, such as 12345-6789."""
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
