"""Check of the queues, and of the jobs that failed. Uses mg_ops, as superusers do."""

from __future__ import annotations

from django.db import connections
from django.urls import reverse
from django.utils.translation import gettext, ngettext

from jobs.queue_figures import LaneFigures, read_lanes
from operations.finding import Finding, Section, Table, bad, ok, warn
from projects.common.stored_sentences import translated

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
    says = ngettext(
        "No job waits for long. %(count)s lane is empty.", "No job waits for long. %(count)s lanes are empty.", empty
    )
    calm = ok(says % {"count": empty})
    head = (gettext("Lane"), gettext("Waiting"), gettext("Running"), gettext("Failed"), gettext("Oldest due"))
    table = Table(head, rows)
    return Section(gettext("Queues"), findings or (calm,), (table,) if rows else ())


def check_failed_jobs() -> Section:
    """The newest failed jobs, which staff can run again."""
    title = gettext("Failed jobs")
    with connections["ops"].cursor() as cursor:
        cursor.execute(_FAILED, [MOST_FAILED])
        found = cursor.fetchall()
    if not found:
        return Section(title, (ok(gettext("No job has failed.")),))
    rows = tuple(
        (lane, name, f"{at or ''} UTC", translated(error)[:LONGEST_REASON]) for _, lane, name, at, error in found
    )
    links = tuple(reverse("admin:jobs_job_change", args=[pk]) for pk, *_ in found)
    failed = sum(lane.failed for lane in read_lanes())
    finding = warn(
        ngettext("%(count)s job has failed.", "%(count)s jobs have failed.", failed) % {"count": failed},
        gettext("Remove the cause that a job names, then run it again under Jobs in the administration."),
    )
    head = (gettext("Lane"), gettext("Organization"), gettext("Failed at"), gettext("Reason"))
    return Section(title, (finding,), (Table(head, rows, links),))


def _late(lane: LaneFigures) -> Finding | None:
    age = lane.oldest_due_seconds
    if lane.lane == REPLY and age > REPLY_SECONDS:
        says = gettext("A customer has waited %(time)s for a worker.") % {"time": _seconds(age)}
        return bad(says, gettext("Add workers for replies: %(command)s.") % {"command": "bin/run replies"})
    if age > OTHER_SECONDS:
        says = gettext("The oldest job of %(lane)s has waited %(time)s.") % {"lane": lane.lane, "time": _seconds(age)}
        return warn(says, gettext("Add workers: %(command)s.") % {"command": "bin/run work"})
    return None


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 600 else f"{seconds / 60:.0f} min"
