"""Lists what was erased, and repeats it in a restored installation."""

from __future__ import annotations

import argparse
import re
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from privacy.repeat_erasures import erased_digests, repeat_erasures

DIGEST = re.compile(r"[0-9a-f]{64}")


class Command(BaseCommand):
    """`manage.py erasures` prints a digest a line; `manage.py erasures --repeat FILE` reads such lines."""

    help = (
        "Print the digests of erased customers and deleted organizations, or repeat the erasures in a restored backup."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--repeat",
            type=argparse.FileType(encoding="ascii", errors="replace"),
            metavar="FILE",
            help="a list; - is stdin",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["repeat"] is None:
            for digest in erased_digests():
                self.stdout.write(digest)
            return
        with options["repeat"] as file:
            lines = [line.strip() for line in file if line.strip()]
        for number, line in enumerate(lines, 1):
            if not DIGEST.fullmatch(line):
                raise CommandError(f"Line {number} is not a digest: use what `manage.py erasures` printed.")
        repeated = repeat_erasures(lines)
        self.stdout.write(
            f"{repeated.customers} customers and {repeated.organizations} organizations are being erased again."
        )
