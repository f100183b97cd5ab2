"""Sessions that have ended: Django refuses them, and leaves their rows to somebody else."""

from __future__ import annotations

from django.db import connection

DELETED_AT_ONCE = 1_000


def delete_old_sessions() -> int:
    """Forget sessions that have expired, up to 1,000 of them. Returns how many; call again for the rest.

    One that is being written is left to the next call.
    """
    old = (
        "select session_key from django_session where expire_date < now()"
        " order by expire_date limit %s for update skip locked"
    )
    with connection.cursor() as cursor:
        cursor.execute(f"delete from django_session where session_key in ({old})", [DELETED_AT_ONCE])  # noqa: S608
        return int(cursor.rowcount)
