"""The check of where files are: each place is written to, read and cleared, and nothing waits in vain."""

from __future__ import annotations

from datetime import timedelta

from django.conf import settings
from django.db import connections
from django.utils import timezone

from conversations.files.moves import Waiting, read_waiting
from conversations.files.places import POSTGRESQL, FilesUnavailable, ask, place_of_new_files, places, probe
from operations.finding import Finding, Section, bad, ok, plural, warn

FILES = "Files"
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
    return Section(
        FILES, (*_places(writes=writes), *(_unknown(place) for place in lost), *filter(None, map(_late, waiting)))
    )


def _places(*, writes: bool) -> list[Finding]:
    first = place_of_new_files()
    says = "stay in PostgreSQL" if first == POSTGRESQL else f"go to {first}"
    return [ok(f"New contents {says}."), *(_asked(place, writes=writes) for place in places())]


def _asked(place: str, *, writes: bool) -> Finding:
    try:
        (probe if writes else ask)(place)
    except FilesUnavailable as error:
        action = (
            "Files are refused with 503 until it answers. Check the address, the key and the rights in MAKEGOOD_FILES."
        )
        return bad(str(error), action)
    return ok(f"{place} can be {'written to, read and deleted from' if writes else 'read'}.")


def _unknown(place: str) -> Finding:
    return bad(
        f"{place} isn't in MAKEGOOD_FILES, and contents there are to be deleted.", "Add it after the first place."
    )


def _late(waiting: Waiting) -> Finding | None:
    if not waiting.error or timezone.now() - waiting.since < PATIENCE:
        return None
    doing = "deleted" if waiting.state == "leaving" else "moved"
    text = f"{plural(waiting.number, 'content', 'contents')} could not be {doing} yet: {waiting.error}"
    return warn(text, "They are tried again every ten minutes. See manage.py files.")
