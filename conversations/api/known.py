"""Customer fields sent by API clients, normalized as the observer stores them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conversations.api.serializers import OWN
from conversations.common.consents import GIVEN, OPT_INS, WITHDRAWN
from conversations.models.persona import PersonaField
from projects.common.api_error import Unprocessable
from projects.common.characters import has_control_characters
from projects.common.phones import InvalidPhone, read_phone
from projects.models import Project
from tools.services.bookings.search import config_of

LONGEST_KEY = PersonaField._meta.get_field("key").max_length or 0
WRONG_KEY = "has the invalid key {key}. Use 1 to {longest} printable characters without surrounding spaces."


def known_fields(project: Project, data: Mapping[str, Any], *, path: str = "") -> dict[str, str]:
    """The customer's fields in validated data. `path` is their prefix in the body. Raises ApiError.

    Phone numbers are normalized: messages, caller identification and bookings match customers by number, so one number
    must have one form. A consent is true or false.
    """
    for key in data.get("attributes", {}):
        _require_key(key, field=f"{path}attributes")
    own_fields = {key: str(data[key]) for key in OWN if key in data}
    attributes = {key: str(value) for key, value in data.get("attributes", {}).items()}
    for fields, prefix in ((own_fields, path), (attributes, f"{path}attributes.")):
        for key, text in fields.items():
            require_line(text, field=f"{prefix}{key}")
        if "phone" in fields:
            fields["phone"] = _phone(fields["phone"], field=f"{prefix}phone", region=config_of(project).region)
    for key in OPT_INS:
        if key in attributes:
            attributes[key] = _opt_in(attributes[key], field=f"{path}attributes.{key}")
    return {**attributes, **own_fields}


def _require_key(key: str, *, field: str) -> None:
    if not 1 <= len(key) <= LONGEST_KEY or not key.isprintable() or key != key.strip():
        message = WRONG_KEY.format(key=ascii(key[: 2 * LONGEST_KEY]), longest=LONGEST_KEY)
        raise Unprocessable("invalid", f"{field} {message}", field=field)


def require_line(text: str, *, field: str) -> None:
    """Raises Unprocessable if the text contains line breaks or control characters."""
    if has_control_characters(text):
        message = f"{field} contains control characters. Send a single line without them."
        raise Unprocessable("controls", message, field=field)


def _phone(text: str, *, field: str, region: str) -> str:
    try:
        return read_phone(text, region=region)
    except InvalidPhone as refusal:
        raise Unprocessable("invalid_phone", f"{field}: {refusal.sentence}", field=field) from refusal


def _opt_in(text: str, *, field: str) -> str:
    value = text.strip().lower()
    if value not in (GIVEN, WITHDRAWN):
        raise Unprocessable("invalid_consent", f"{field}: must be true or false.", field=field)
    return value
