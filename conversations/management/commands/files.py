"""Says where the contents of files are, and moves them to the first place of MAKEGOOD_FILES."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from conversations.files.moves import count_planned, last_error, plan_moves, read_usage, read_waiting
from conversations.files.places import POSTGRESQL, FilesUnavailable, place_of_new_files, probe
from conversations.files.upkeep import THREADS, tend_due

MEGABYTE = 1_000_000


class Command(BaseCommand):
    """`manage.py files`: exit code 1 if contents could not be moved."""

    help = "Say where the contents of files are. With --move, move them to the first place of MAKEGOOD_FILES."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--move", action="store_true", help="move the contents that are elsewhere; may be repeated")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["move"]:
                self._move(place_of_new_files())
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

    def _show(self) -> None:
        for usage in read_usage():
            self.stdout.write(f"{usage.place}  {usage.files:,} files, {usage.bytes / MEGABYTE:,.1f} MB")
        for waiting in read_waiting():
            doing = "to be deleted from" if waiting.state == "leaving" else "to be moved to"
            reason = f": {waiting.error}" if waiting.error else ""
            self.stdout.write(f"{waiting.number:,} {doing} {waiting.place} since {waiting.since:%F %H:%M}{reason}")
