"""Durations as text."""

from __future__ import annotations

from datetime import timedelta

from django.utils.translation import gettext, ngettext

from projects.common.numbers import decimal


def span_of(length: timedelta) -> str:
    """The duration in one or two units: "312 ms", "3.2 s", "2 min 5 s", "14 h", "3 days"."""
    seconds = max(0.0, length.total_seconds())
    if seconds < 1:
        return gettext("%(number)s ms") % {"number": f"{seconds * 1000:.0f}"}
    if seconds < 60:
        return gettext("%(number)s s") % {"number": decimal(seconds, 1 if seconds < 10 else 0)}
    if seconds < 3600:
        minutes, rest = divmod(int(seconds), 60)
        if rest and minutes < 10:
            return gettext("%(minutes)s min %(seconds)s s") % {"minutes": minutes, "seconds": rest}
        return gettext("%(number)s min") % {"number": minutes}
    if seconds < 48 * 3600:
        return gettext("%(number)s h") % {"number": f"{seconds / 3600:.0f}"}
    days = round(seconds / 86400)
    return ngettext("%(number)s day", "%(number)s days", days) % {"number": days}
