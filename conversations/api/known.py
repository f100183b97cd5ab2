"""What a caller of the API knows of a customer, in the form in which the observer keeps it (T11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conversations.api.serializers import OWN
from projects.common.api_error import ApiError
from projects.common.phones import InvalidPhone, read_phone
from projects.models import Project
from tools.services.bookings.search import config_of


def known_fields(project: Project, data: Mapping[str, Any], *, path: str = "") -> dict[str, str]:
    """The customer's fields among validated data, which stand below `path` in the body. Raises ApiError.

    A number in two forms would be two: whom a text goes to, who a caller is and which booking is theirs is found by it.
    """
    own = {key: str(data[key]) for key in OWN if key in data}
    more = {key: str(value) for key, value in data.get("attributes", {}).items()}
    for fields, place in ((own, path), (more, f"{path}attributes.")):
        if "phone" in fields:
            fields["phone"] = _phone(fields["phone"], field=f"{place}phone", region=config_of(project).region)
    return {**more, **own}


def _phone(text: str, *, field: str, region: str) -> str:
    try:
        return read_phone(text, region=region)
    except InvalidPhone as refusal:
        raise ApiError("invalid_phone", f"{field}: {refusal.sentence}", field=field) from refusal
