"""Values as the API shows them."""

from __future__ import annotations

from datetime import datetime


def stamp(moment: datetime | None) -> str | None:
    """ISO 8601 in UTC, or null."""
    return moment.isoformat().replace("+00:00", "Z") if moment else None
