"""`python -m config.backup backup|restore`: the commands that bin/backup and bin/restore run."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
import tomllib
from contextlib import closing
from pathlib import Path

import psycopg

from config.backup import archive
from config.backup.dump import connect, dump, first_line
from config.backup.errors import BackupError
from config.backup.keys import create_key_file, find_identity, make_lock
from config.backup.restore import ROOT, check_file, require_known_schema, restore
from config.backup.source import open_source
from config.runner.errors import StartError
from config.runner.preflight import check_settings

# The lowest priority: customers wait for replies, and nobody waits for a backup.
NICENESS = 19


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="makegood")
    commands = parser.add_subparsers(dest="command", required=True)
    backup = commands.add_parser("backup", prog="bin/backup", description="Write an encrypted backup of everything.")
    backup.add_argument("file", type=Path, nargs="?", help="the backup, which must not exist")
    backup.add_argument("--key-file", type=Path, help="an age key file; see --new-key")
    backup.add_argument("--new-key", type=Path, metavar="FILE", help="make a key file, and nothing else")
    backup.add_argument("--without-keys", action="store_true", help="leave out SECRET_KEY and MAKEGOOD_ENCRYPTION_KEYS")
    backup.set_defaults(act=make_backup)
    back = commands.add_parser("restore", prog="bin/restore", description="Restore a backup into an empty place.")
    back.add_argument("file", type=Path, help="the backup")
    back.add_argument("--key-file", type=Path, help="the age key file that opens it")
    only = back.add_mutually_exclusive_group()
    only.add_argument("--check", action="store_true", help="read the whole file, and restore nothing")
    only.add_argument("--keys", action="store_true", help="print the keys of the installation, and restore nothing")
    only.add_argument(
        "--resume", action="store_true", help="carry out what was planned: nothing ran after the backup was made"
    )
    back.set_defaults(act=restore_backup)
    arguments = parser.parse_args()
    if arguments.command == "backup" and (arguments.file is None) == (arguments.new_key is None):
        backup.error("name one file: that of the backup, or that of --new-key")
    return arguments


def make_backup(arguments: argparse.Namespace) -> None:
    """Write the backup, or a new key file."""
    if arguments.new_key:
        print(f"{arguments.new_key}: public key {create_key_file(arguments.new_key).to_public()}")
        return
    check_settings(os.environ)
    began = time.monotonic()
    lock = make_lock(arguments.file, key_file=arguments.key_file, env=os.environ)
    with open_source(os.environ, data_dir=_data_dir()) as source, closing(connect(source.url)) as connection:
        frames = dump(connection, version=_version(), secrets=source.secrets, with_secrets=not arguments.without_keys)
        size = archive.write(arguments.file, frames, lock=lock)
    print(f"{arguments.file}: {_megabytes(size)} in {time.monotonic() - began:.0f} s")
    if lock.note:
        print(lock.note, file=sys.stderr)


def restore_backup(arguments: argparse.Namespace) -> None:
    """Check the whole file, then restore it."""
    file = arguments.file
    wrapped = archive.read_head(file)
    identity = find_identity(file, wrapped=wrapped, key_file=arguments.key_file, env=os.environ)
    manifest, found = check_file(file, identity=identity)
    if arguments.keys:
        if manifest.secrets is None:
            raise BackupError("The backup was made without its keys.")
        print(*(f"{name}={value}" for name, value in manifest.secrets.env().items()), sep="\n")
        return
    print(f"{file}: {found.rows:,} rows of {found.tables} tables, made at {manifest.created_at} by {manifest.version}")
    if arguments.check:
        return
    check_settings(os.environ)
    is_current = require_known_schema(manifest, env=os.environ)
    loaded = restore(
        file,
        identity=identity,
        manifest=manifest,
        env=os.environ,
        data_dir=_data_dir(),
        is_current=is_current,
        resumes=arguments.resume,
    )
    place = "the database" if os.environ.get("DATABASE_URL") else _data_dir()
    if loaded.uncertain:
        print(
            f"Planned effects that may have happened since: {loaded.uncertain:,}. Staff is asked about each. See --resume."
        )
    print(f"Restored into {place}. bin/serve starts it.")


def _data_dir() -> Path:
    return Path(os.environ.get("MAKEGOOD_DATA") or ROOT / ".data")


def _version() -> str:
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])


def _megabytes(size: int) -> str:
    return f"{size / 1e6:,.1f} MB"


def main() -> int:
    arguments = read_arguments()
    # An ended command leaves nothing half done: SIGTERM ends it like Ctrl-C.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    os.nice(NICENESS)
    try:
        arguments.act(arguments)
    except psycopg.Error as error:
        print(f"bin/{arguments.command}: PostgreSQL refused: {first_line(error)}.", file=sys.stderr)
        return 1
    except (BackupError, StartError) as error:
        print(f"bin/{arguments.command}: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
