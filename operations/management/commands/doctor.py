"""Says in a shell what is wrong with the installation, and what to do."""

from __future__ import annotations

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from operations.finding import Section, State, Table
from operations.report import examine

MARKS = {State.OK: "ok  ", State.WARN: "look", State.BAD: "BAD "}


class Command(BaseCommand):
    """`manage.py doctor`: exit code 1 if something is wrong, 0 otherwise."""

    help = (
        "Check workers, queues, models, servers, files, disk, certificate and keys. Exit code 1 if something is wrong."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--tables", action="store_true", help="show the tables of the operator's page as well")
        parser.add_argument("--strict", action="store_true", help="exit code 1 for what is only worth a look, too")

    def handle(self, *args: Any, **options: Any) -> None:
        sections = examine(writes=True)
        for section in sections:
            self._show(section, with_tables=options["tables"])
        states = {section.state for section in sections}
        if State.BAD in states or (options["strict"] and State.WARN in states):
            sys.exit(1)

    def _show(self, section: Section, *, with_tables: bool) -> None:
        for finding in section.findings:
            self.stdout.write(f"{MARKS[finding.state]} {section.title}: {finding.says}")
            if finding.action:
                self.stdout.write(f"     → {finding.action}")
        if with_tables:
            for table in section.tables:
                self.stdout.write(f"\n{text_of(table)}\n")


def text_of(table: Table) -> str:
    """The table in columns."""
    rows = [table.head, *table.rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.head))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(f"     {line.rstrip()}" for line in lines)
