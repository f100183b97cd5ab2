"""`bin/manage`: becomes a management command on your own servers, or on those of a copy that bin/serve runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NoReturn

from config.runner import programs
from config.runner.embedded import key_env, postgres_env
from config.runner.errors import StartError
from config.runner.keys import load_keys
from config.runner.manage import manage
from config.runner.ports import LOOPBACK, PortStore
from config.runner.postgres import running_postgres
from config.runner.preflight import check_settings
from config.runner.preparation import DemoFile
from config.runner.redis import running_redis
from config.runner.run import become


def settings_of(env: Mapping[str, str], *, data_dir: Path) -> dict[str, str]:
    """The environment of a command: the operator's, completed by what the running copy uses. Raises StartError."""
    own = {name: value for name, value in env.items() if value} | {"DJANGO_SETTINGS_MODULE": "config.settings"}
    check_settings(own)
    if "DATABASE_URL" in own:
        return own
    # The copy runs, so its keys exist.
    base_url = DemoFile(data_dir).base_url()
    keys, ports = load_keys(data_dir), PortStore(data_dir)
    postgres = running_postgres(data_dir, keys=keys, port=ports.stored("postgres"))
    known = key_env(keys) | postgres_env(postgres, keys=keys)
    known |= {
        "MAKEGOOD_BASE_URL": base_url,
        "MAKEGOOD_DATA": str(data_dir),
        "REDIS_URL": running_redis(data_dir, keys=keys, port=ports.stored("redis")).url(),
    }
    if "OPENAI_API_KEY" not in own and "OPENAI_BASE_URL" not in own:
        known |= programs.offline_env(f"http://{LOOPBACK}:{ports.stored('model')}")
    return known | own


def main() -> NoReturn:
    try:
        env = settings_of(os.environ, data_dir=Path(os.environ.get("MAKEGOOD_DATA") or programs.ROOT / ".data"))
    except StartError as error:
        print(f"bin/manage: {error}", file=sys.stderr)
        sys.exit(1)
    become(manage(*(sys.argv[1:] or ["help"]), env=env))


if __name__ == "__main__":
    main()
