"""The check of where files are: each place is written to, read and cleared, and nothing waits in vain."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import connections
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from conversations.files.moves import Waiting, read_waiting
from conversations.files.places import POSTGRESQL, FilesUnavailable, ask, place_of_new_files, places, probe
from operations.finding import Finding, Section, bad, ok, warn

PATIENCE = timedelta(minutes=10)


def check_files() -> Section:
    """The places of contents, and what couldn't be moved or deleted.

    Each place is only read from, since a web process may have no right to write to a folder.
    """
    return _check(writes=False)


def probe_files() -> Section:
    """As `check_files`, but each place is written to as well."""
    return _check(writes=True)


def _check(*, writes: bool) -> Section:
    waiting = read_waiting()
    connections.close_all()
    known = set(settings.FILE_PLACES)
    lost = sorted({one.place for one in waiting} - known - {POSTGRESQL})
    findings = (*_places(writes=writes), *(_unknown(place) for place in lost), *filter(None, map(_late, waiting)))
    return Section(gettext("Files"), findings)


def _places(*, writes: bool) -> list[Finding]:
    first = place_of_new_files()
    is_here = first == POSTGRESQL
    says = gettext("New files stay in PostgreSQL.") if is_here else gettext("New files go to %(place)s.")
    return [ok(says % {"place": first}), *(_asked(place, writes=writes) for place in places())]


def _asked(place: str, *, writes: bool) -> Finding:
    try:
        (probe if writes else ask)(place)
    except FilesUnavailable as error:
        action = gettext(
            "Files are refused with 503 until it answers. Check the address, the key and the rights in MAKEGOOD_FILES."
        )
        return bad(str(error), action)
    if writes:
        return ok(gettext("%(place)s can be written to, read and deleted from.") % {"place": place})
    return ok(gettext("%(place)s can be read.") % {"place": place})


def _unknown(place: str) -> Finding:
    says = gettext("%(place)s isn’t in MAKEGOOD_FILES, and files there are to be deleted.") % {"place": place}
    return bad(says, gettext("Add it after the first place."))


def _late(waiting: Waiting) -> Finding | None:
    if not waiting.error or timezone.now() - waiting.since < PATIENCE:
        return None
    if waiting.state == "leaving":
        says = ngettext(
            "%(count)s file could not be deleted yet: %(reason)s",
            "%(count)s files could not be deleted yet: %(reason)s",
            waiting.number,
        )
    else:
        says = ngettext(
            "%(count)s file could not be moved yet: %(reason)s",
            "%(count)s files could not be moved yet: %(reason)s",
            waiting.number,
        )
    action = gettext("They are tried again every ten minutes. See manage.py files.")
    return warn(says % {"count": waiting.number, "reason": waiting.error}, action)
