"""What a caller of the API knows of a customer, in the form in which the observer keeps it (T11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import phonenumbers

from conversations.facts import NORMALISERS, RefusedValue
from projects.agent import AgentConfig
from projects.api.problem import ApiError
from projects.models import Project
from tools.book.search import config_of

OWN = ("name", "phone", "email")


def known_fields(project: Project, data: Mapping[str, Any], *, path: str = "") -> dict[str, str]:
    """The customer's fields among validated data, which stand below `path` in the body. Raises ApiError.

    A number in two forms would be two: whom a text goes to, who a caller is and which booking is theirs is found by it.
    """
    own = {key: str(data[key]) for key in OWN if key in data}
    more = {key: str(value) for key, value in data.get("attributes", {}).items()}
    for fields, place in ((own, path), (more, f"{path}attributes.")):
        if "phone" in fields:
            fields["phone"] = _phone(fields["phone"], field=f"{place}phone", config=config_of(project))
    return {**more, **own}


def _phone(text: str, *, field: str, config: AgentConfig) -> str:
    try:
        return NORMALISERS["phone"](text, config)
    except RefusedValue as refusal:
        way = f"Write it like {_example(config.region)}, or leave it out where none is known."
        raise ApiError("invalid_phone", f"{field}: {refusal} {way}", field=field) from refusal


def _example(region: str) -> str:
    """A number as they are in the project's region, with its country."""
    kind = phonenumbers.PhoneNumberType.MOBILE
    # One island has none of its own.
    number = phonenumbers.example_number_for_type(region, kind) or phonenumbers.example_number_for_type("GB", kind)
    assert number is not None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)
