"""Deletion of expired sessions, which Django ignores but doesn't delete."""

from __future__ import annotations

from django.db import connection

DELETE_BATCH = 1_000

# Materialized, because a plain subquery may run once per row and select other rows each time.
_DELETE = """
with old as materialized (
    select session_key from django_session where expire_date < now() order by expire_date limit %s for update skip locked)
delete from django_session s using old where s.session_key = old.session_key
"""


def delete_old_sessions() -> int:
    """Delete up to 1,000 expired sessions and return how many. Rows that are being written are left for a later call."""
    with connection.cursor() as cursor:
        cursor.execute(_DELETE, [DELETE_BATCH])
        return int(cursor.rowcount)
