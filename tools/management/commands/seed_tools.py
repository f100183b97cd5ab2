"""Stores the platform's definitions of the tools that models call, from the code's own or from files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from tools.engine.platform.seeds import SeedRefused, code_seeds, read_seeds, seed_tools, write_seeds


class Command(BaseCommand):
    help = (
        "Store how the tools that models call are described, from the code's own definitions. From then on the stored ones "
        "hold, and the platform's people edit them in the admin. Running it again adds what is new, and leaves alone what "
        "somebody has edited."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--from", dest="folder", type=Path, help="read <name>.json files from this folder instead")
        parser.add_argument(
            "--write", type=Path, help="write the code's definitions into this folder, and store nothing"
        )
        parser.add_argument("--overwrite", action="store_true", help="put the seeds in place of edited ones as well")

    def handle(self, *args: Any, **options: Any) -> None:
        if folder := options["write"]:
            self.stdout.write(f"{len(write_seeds(folder))} files are in {folder}.")
            return
        try:
            seeds = read_seeds(options["folder"]) if options["folder"] else code_seeds()
        except SeedRefused as refusal:
            raise CommandError(f"Nothing was stored. {refusal}") from refusal
        for one in seed_tools(seeds, overwrite=options["overwrite"]):
            self.stdout.write(f"{one.name}: {one.result}.")
            for change in one.changes:
                self.stdout.write(f"  {change}")
