"""Settings for the type checker's Django plugin. It connects to no server, so the addresses are placeholders."""

from __future__ import annotations

import os

os.environ.setdefault("SECRET_KEY", "typing")
os.environ.setdefault("MAKEGOOD_ENCRYPTION_KEYS", "typing")
os.environ.setdefault("REDIS_URL", "redis://localhost/0")
for _name, _role in (("DATABASE_URL", "mg_app"), ("OPS_DATABASE_URL", "mg_ops"), ("MIGRATE_DATABASE_URL", "mg_owner")):
    os.environ.setdefault(_name, f"postgresql://{_role}:typing@localhost/typing")

from config.settings import *  # noqa: E402, F403  # the settings read the environment when imported
