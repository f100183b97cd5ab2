"""Check of the queues, and of the jobs that failed. Uses mg_ops, as superusers do."""

from __future__ import annotations

from django.db import connections
from django.urls import reverse

from jobs.queue_figures import LaneFigures, read_lanes
from operations.finding import Finding, Section, Table, bad, ok, plural, warn

REPLY = "reply"
# The ages from which customers notice that their reply waits, and that its promises do.
REPLY_SECONDS, OTHER_SECONDS = 10, 120
MOST_FAILED = 20
LONGEST_REASON = 160

_FAILED = """
select j.id::text, j.lane, o.name, to_char(j.finished_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI'), j.error
from jobs_job j join projects_organization o on o.id = j.organization_id
where j.state = 'failed' order by j.finished_at desc nulls last limit %s
"""


def check_queues() -> Section:
    """The lanes with their oldest job that is due."""
    lanes = read_lanes()
    findings = tuple(finding for lane in lanes if (finding := _late(lane)) is not None)
    rows = tuple(
        (lane.lane, str(lane.queued), str(lane.running), str(lane.failed), _seconds(lane.oldest_due_seconds))
        for lane in lanes
        if lane.queued or lane.running or lane.failed
    )
    empty = len(lanes) - len(rows)
    calm = ok(f"No job waits for long. {plural(empty, 'lane is', 'lanes are')} empty.")
    table = Table(("Lane", "Waiting", "Running", "Failed", "Oldest due"), rows)
    return Section("Queues", findings or (calm,), (table,) if rows else ())


def check_failed_jobs() -> Section:
    """The newest failed jobs, which staff can run again."""
    with connections["ops"].cursor() as cursor:
        cursor.execute(_FAILED, [MOST_FAILED])
        found = cursor.fetchall()
    if not found:
        return Section("Failed jobs", (ok("No job has failed."),))
    rows = tuple((lane, name, f"{at or ''} UTC", error[:LONGEST_REASON]) for _, lane, name, at, error in found)
    links = tuple(reverse("admin:jobs_job_change", args=[pk]) for pk, *_ in found)
    finding = warn(
        f"{plural(sum(lane.failed for lane in read_lanes()), 'job has', 'jobs have')} failed.",
        "Remove the cause that a job names, then run it again under Jobs in the administration.",
    )
    return Section("Failed jobs", (finding,), (Table(("Lane", "Organization", "Failed at", "Reason"), rows, links),))


def _late(lane: LaneFigures) -> Finding | None:
    age = lane.oldest_due_seconds
    if lane.lane == REPLY and age > REPLY_SECONDS:
        return bad(f"A customer has waited {_seconds(age)} for a worker.", "Add workers for replies: bin/run replies.")
    if age > OTHER_SECONDS:
        return warn(f"The oldest job of {lane.lane} has waited {_seconds(age)}.", "Add workers: bin/run work.")
    return None


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"
