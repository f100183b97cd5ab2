"""Says where the contents of files are, moves them to the first place of MAKEGOOD_FILES, and finds what no file needs."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from conversations.files.moves import count_planned, last_error, plan_moves, read_usage, read_waiting
from conversations.files.orphans import find_orphans
from conversations.files.places import (
    POSTGRESQL,
    FilesUnavailable,
    delete_object,
    place_of_new_files,
    places,
    probe,
)
from conversations.files.upkeep import THREADS, tend_due

MEGABYTE = 1_000_000


class Command(BaseCommand):
    """`manage.py files`: exit code 1 if contents could not be moved."""

    help = "Say where the contents of files are, move them to the first place of MAKEGOOD_FILES, or find orphans."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--move", action="store_true", help="move the contents that are elsewhere; may be repeated")
        parser.add_argument("--orphans", action="store_true", help="list objects over a day old that no row names")
        parser.add_argument("--delete-orphans", action="store_true", help="list and delete them; may be repeated")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["move"]:
                self._move(place_of_new_files())
            if options["orphans"] or options["delete_orphans"]:
                self._list_orphans(deletes=options["delete_orphans"])
            else:
                self._show()
        finally:
            connections.close_all()

    def _move(self, place: str) -> None:
        try:
            if place != POSTGRESQL:
                probe(place)
        except FilesUnavailable as error:
            raise CommandError(str(error)) from None
        moved, last = 0, plan_moves(place)
        while last is not None:
            moved += self._carry_out(last)
            last = plan_moves(place, after=last)
        if left := count_planned():
            self.stderr.write(f"{left} could not be moved yet: {last_error()} Workers try again; so does this command.")
            sys.exit(1)

    def _carry_out(self, last: UUID) -> int:
        """Move what is planned, beside the workers."""
        planned = count_planned()
        connections.close_all()
        with ThreadPoolExecutor(THREADS) as threads:
            for done in [threads.submit(tend_due) for _ in range(THREADS)]:
                done.result()
        moved = planned - count_planned()
        self.stdout.write(f"moved {moved} files, up to {last}")
        return moved

    def _list_orphans(self, *, deletes: bool) -> None:
        """List the orphans of every place, and delete them."""
        if not places():
            self.stdout.write("All contents are in PostgreSQL, which keeps no objects.")
        for place in places():
            try:
                self._list_place(place, deletes=deletes)
            except FilesUnavailable as error:
                raise CommandError(str(error)) from None

    def _list_place(self, place: str, *, deletes: bool) -> None:
        read, found, size, foreign = 0, 0, 0, 0
        for page in find_orphans(place):
            for one in page.orphans:
                if deletes:
                    delete_object(place, one.name)
                self.stdout.write(f"{place}/{one.name}  {one.size:,} bytes, {one.written_at:%F %H:%M}")
            read, found, foreign = read + page.read, found + len(page.orphans), foreign + page.foreign
            size += sum(one.size for one in page.orphans)
            self.stderr.write(f"{read:,} objects of {place} read, {found:,} orphans")
        done = "deleted" if deletes else "found, --delete-orphans deletes them"
        self.stdout.write(
            f"{place}: {found:,} orphans, {size / MEGABYTE:,.1f} MB, {done}" if found else f"{place}: no orphans"
        )
        if foreign:
            self.stdout.write(
                f"{place}: {foreign:,} objects left alone, of organizations that aren't here or of others"
            )

    def _show(self) -> None:
        for usage in read_usage():
            self.stdout.write(f"{usage.place}  {usage.files:,} files, {usage.bytes / MEGABYTE:,.1f} MB")
        for waiting in read_waiting():
            doing = "to be deleted from" if waiting.state == "leaving" else "to be moved to"
            reason = f": {waiting.error}" if waiting.error else ""
            self.stdout.write(f"{waiting.number:,} {doing} {waiting.place} since {waiting.since:%F %H:%M}{reason}")
