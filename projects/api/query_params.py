"""Query parameters that several APIs share."""

from __future__ import annotations

import re
from datetime import date

from rest_framework.request import Request

from projects.common.api_error import ApiError

# Python also reads days without hyphens, and by the week.
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def read_day(text: str) -> date | None:
    """A day such as 2026-11-24; None if the text isn't one."""
    try:
        return date.fromisoformat(text) if DAY.fullmatch(text) else None
    except ValueError:
        return None


def day_param(request: Request, name: str) -> date | None:
    """A day such as 2026-11-24; None without the parameter. Raises ApiError."""
    text = request.query_params.get(name)
    if text is None:
        return None
    if found := read_day(text):
        return found
    raise ApiError(f"invalid_{name}", f"{name} must be a day like 2026-11-24.", field=name)
