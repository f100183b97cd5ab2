"""The check of settings behind a pooler of transactions, where no connection can set any for itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ImproperlyConfigured

# The limits without which a frozen process or a long statement would hold its locks forever. Those of TCP are missing:
# they always read as zero over a Unix socket.
GUARDS = ("idle_in_transaction_session_timeout", "statement_timeout", "client_connection_check_interval")
READ = "select current_user::text, " + ", ".join(f"current_setting('{name}')" for name in GUARDS)


def require_role_settings(connection: Any, wanted: Mapping[str, object]) -> None:
    """Raise ImproperlyConfigured if the role lacks one of the limits that `wanted` contains.

    The values may differ: they are the administrator's.
    """
    role, *values = connection.execute(READ).fetchone()
    lacking = [name for name, value in zip(GUARDS, values, strict=True) if wanted.get(name) and value == "0"]
    if lacking:
        raise ImproperlyConfigured(
            f"The role {role} has no {lacking[0]} behind the pooler: run the SQL that `manage.py roles` prints, and let the"
            " pooler connect again."
        )
