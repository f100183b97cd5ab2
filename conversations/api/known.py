"""Customer fields sent by API clients, normalized as the observer stores them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conversations.api.serializers import OWN
from conversations.common.consents import GIVEN, OPT_INS, WITHDRAWN
from projects.common.api_error import ApiError
from projects.common.phones import InvalidPhone, read_phone
from projects.models import Project
from tools.services.bookings.search import config_of


def known_fields(project: Project, data: Mapping[str, Any], *, path: str = "") -> dict[str, str]:
    """The customer's fields in validated data. `path` is their prefix in the body. Raises ApiError.

    Phone numbers are normalized: messages, caller identification and bookings match customers by number, so one number
    must have one form. A consent is true or false.
    """
    own_fields = {key: str(data[key]) for key in OWN if key in data}
    attributes = {key: str(value) for key, value in data.get("attributes", {}).items()}
    for fields, prefix in ((own_fields, path), (attributes, f"{path}attributes.")):
        if "phone" in fields:
            fields["phone"] = _phone(fields["phone"], field=f"{prefix}phone", region=config_of(project).region)
    for key in OPT_INS:
        if key in attributes:
            attributes[key] = _opt_in(attributes[key], field=f"{path}attributes.{key}")
    return {**attributes, **own_fields}


def _phone(text: str, *, field: str, region: str) -> str:
    try:
        return read_phone(text, region=region)
    except InvalidPhone as refusal:
        raise ApiError("invalid_phone", f"{field}: {refusal.sentence}", field=field) from refusal


def _opt_in(text: str, *, field: str) -> str:
    value = text.strip().lower()
    if value not in (GIVEN, WITHDRAWN):
        raise ApiError("invalid_consent", f"{field}: must be true or false.", field=field)
    return value
