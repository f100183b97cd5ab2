"""The session engine: Django's sessions in the database, read by a prepared statement, because every page reads one."""

from __future__ import annotations

from typing import Any

from django.contrib.sessions.backends.db import SessionStore as DatabaseSessions
from django.utils import timezone

from tenancy.postgresql.prepared import Prepared

_DATA = Prepared("select session_data from django_session where session_key = %s and expire_date > %s")


class SessionStore(DatabaseSessions):
    def load(self) -> dict[str, Any]:
        """The session's data; empty, and without its key, if it has ended."""
        found = _DATA(self.session_key, timezone.now())
        if not found:
            self._session_key = None
            return {}
        [[data]] = found
        return self.decode(data)
