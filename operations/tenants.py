"""The tenants whose replies are slowest, of the last minutes. Uses mg_ops, as superusers do."""

from __future__ import annotations

from datetime import timedelta

from django.db import connections
from django.utils import timezone
from django.utils.translation import gettext, ngettext

from operations.finding import Section, Table, ok
from tenancy.ids import uuid7_floor

PERIOD = timedelta(minutes=15)
# Ids are ordered by time, so the newest jobs are read by the primary key alone, and no more than these.
MOST_READ = 50_000
MOST_SHOWN = 10

_SLOWEST = """
with recent as materialized (
    select organization_id, lane, state, created_at, finished_at from jobs_job where id >= %s order by id desc limit %s)
select o.name, count(*) filter (where r.state = 'done'),
       percentile_cont(0.95) within group (order by extract(epoch from r.finished_at - r.created_at))
           filter (where r.state = 'done') as slow,
       count(*) filter (where r.state = 'queued')
from recent r join projects_organization o on o.id = r.organization_id
where r.lane = 'reply' group by o.id, o.name order by slow desc nulls last limit %s
"""


def check_tenants() -> Section:
    """The slowest tenants by the time from a message to the end of its reply. They are no fault by themselves."""
    with connections["ops"].cursor() as cursor:
        cursor.execute(_SLOWEST, [uuid7_floor(timezone.now() - PERIOD), MOST_READ, MOST_SHOWN])
        found = cursor.fetchall()
    minutes = PERIOD // timedelta(minutes=1)
    rows = tuple(
        (name, str(replies), f"{float(slow):.1f} s" if slow is not None else "", str(waiting))
        for name, replies, slow, waiting in found
    )
    says = ngettext(
        "%(count)s organization had replies in the last %(minutes)s minutes.",
        "%(count)s organizations had replies in the last %(minutes)s minutes.",
        len(rows),
    ) % {"count": len(rows), "minutes": minutes}
    head = (gettext("Organization"), gettext("Replies"), gettext("Whole reply, 95 %"), gettext("Waiting"))
    return Section(gettext("Slowest tenants"), (ok(says),), (Table(head, rows),) if rows else ())
