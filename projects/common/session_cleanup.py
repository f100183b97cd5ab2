"""Sessions that have ended: Django refuses them, and leaves their rows to somebody else."""

from __future__ import annotations

from django.db import connection

DELETED_AT_ONCE = 1_000

# Materialized: as a subquery it might be run again for each row, each time with another few.
_DELETE = """
with old as materialized (
    select session_key from django_session where expire_date < now() order by expire_date limit %s for update skip locked)
delete from django_session s using old where s.session_key = old.session_key
"""


def delete_old_sessions() -> int:
    """Forget sessions that have expired, up to 1,000 of them. Returns how many; call again for the rest.

    One that is being written is left to the next call.
    """
    with connection.cursor() as cursor:
        cursor.execute(_DELETE, [DELETED_AT_ONCE])
        return int(cursor.rowcount)
