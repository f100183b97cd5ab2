"""Restores a backup: checked as a whole first, then loaded into the schema it was made with, then migrated."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from pyrage.x25519 import Identity

from config.backup import archive
from config.backup.dump import connect
from config.backup.errors import BackupError
from config.backup.load import Loaded, check, load
from config.backup.manifest import Manifest
from config.backup.target import UNUSED, open_target
from config.runner.program import Program

ROOT = Path(__file__).resolve().parents[2]
# Settings with which Django loads without a database.
NOWHERE = {
    **UNUSED,
    "DATABASE_URL": "postgresql://mg_app:none@127.0.0.1:9/none",
    "MIGRATE_DATABASE_URL": "postgresql://mg_owner:none@127.0.0.1:9/none",
    "OPS_DATABASE_URL": "postgresql://mg_ops:none@127.0.0.1:9/none",
    "SECRET_KEY": "none",
    "MAKEGOOD_ENCRYPTION_KEYS": "none",
    "DJANGO_SETTINGS_MODULE": "config.settings",
}


def check_file(file: Path, *, identity: Identity) -> tuple[Manifest, Loaded]:
    """Read the whole file. Raises BackupError if it is damaged or cut, or the key doesn't open it."""
    with archive.reading(file, identity=identity) as frames:
        return check(frames)


def require_known_schema(manifest: Manifest, *, env: Mapping[str, str]) -> bool:
    """Return True if the backup has the schema of this version, without a migration to apply.

    Raises BackupError if it was made with a migration that this version doesn't have.
    """
    known = {(app, name) for app, name in json.loads(_python("known", env={**env, **NOWHERE}))}
    if unknown := [key for key in manifest.migrations if key not in known]:
        raise BackupError(
            f"The backup was made by a newer version of Makegood ({manifest.version}; {'.'.join(unknown[0])} is not a"
            " migration of this one): restore it with that version or a later one."
        )
    return known == set(manifest.migrations)


def restore(
    file: Path,
    *,
    identity: Identity,
    manifest: Manifest,
    env: Mapping[str, str],
    data_dir: Path,
    is_current: bool,
    resumes: bool = False,
) -> Loaded:
    """Restore into the empty place that the settings name, and migrate it to this version.

    `is_current` is the answer of `require_known_schema`, and `resumes` is as in `load`.
    """
    with open_target(env, data_dir=data_dir, manifest=manifest) as settings:
        _python("build", env=settings, text=json.dumps(manifest.migrations))
        with (
            connect(settings["MIGRATE_DATABASE_URL"]) as connection,
            archive.reading(file, identity=identity) as frames,
        ):
            loaded = load(connection, frames, resumes=resumes)
            connection.execute("analyze")
        if not is_current:
            migrate = ["migrate", "--no-input", "--skip-checks", "--verbosity", "0"]
            _run([sys.executable, "-m", "manage", *migrate], env=settings)
    return loaded


def _python(action: str, *, env: Mapping[str, str], text: str = "") -> str:
    return _run([sys.executable, "-m", "config.backup.schema", action], env=env, text=text)


def _run(command: list[str], *, env: Mapping[str, str], text: str = "") -> str:
    # Killed with this process. Otherwise, it would go on beside the next restore.
    argv = Program(command[-1], tuple(command)).argv()
    ran = subprocess.run(argv, env=dict(env), cwd=ROOT, input=text, capture_output=True, text=True, check=False)
    if ran.returncode:
        lines = ran.stderr.strip().splitlines() or ["no reason given"]
        raise BackupError(f"The tables can't be created: {lines[-1]}")
    return ran.stdout
