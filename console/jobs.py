"""The page of failed jobs: reason, consequence, and retry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext, ngettext
from django.views.decorators.http import require_http_methods

from console.access import enter, zone_of
from console.layout import shell_context
from console.timestamps import Timestamp, format_timestamp
from console.todos.contacts import UNNAMED
from conversations.common.customer_names import customer_names
from conversations.models import Conversation
from jobs.errors import WrongState
from jobs.lanes import UnknownLane
from jobs.models import Job, State
from jobs.services import run_again
from projects.common.stored_sentences import translated
from projects.common.translation import lazy
from projects.models import Project
from projects.models.key import Scope
from tenancy.prepared_queries import PreparedNewest
from tenancy.scope import tenant_tx
from tools.models import Effect

SHOWN = 50


@dataclass(frozen=True)
class LaneLabel:
    """A lane's display name, and what its failure means for the customer."""

    title: str
    meaning: str


LANES: Mapping[str, LaneLabel] = {
    "reply": LaneLabel(lazy("Reply"), lazy("The customer was told that no answer is available.")),
    "observer": LaneLabel(lazy("Observer"), lazy("Customer details from the message weren’t recorded.")),
    "thoughts": LaneLabel(lazy("Thoughts"), lazy("The next reply uses older directives.")),
    "tool_caller": LaneLabel(lazy("Tool caller"), lazy("The reply wasn’t checked for promises.")),
    "effect": LaneLabel(lazy("Effect"), lazy("The promised action wasn’t done.")),
    "todo": LaneLabel(lazy("Todo"), lazy("An approved todo stopped. Open it to see its progress.")),
    "call": LaneLabel(lazy("Phone call"), lazy("The call was cut off. Call the customer back.")),
    "summary": LaneLabel(lazy("Summary"), lazy("The next prompts use the full transcript.")),
    "extraction": LaneLabel(lazy("Todo extraction"), lazy("The conversation wasn’t checked for open todos.")),
    "make_good": LaneLabel(lazy("Correction"), lazy("A promise was broken, and no todo was created to correct it.")),
    "todo_news": LaneLabel(lazy("Todo update"), lazy("The agent wasn’t told how a todo ended.")),
    "todo_notice": LaneLabel(lazy("Approver notification"), lazy("Approvers weren’t notified about todos to review.")),
    "operator_notice": LaneLabel(
        lazy("Operator notification"), lazy("Operators weren’t notified about waiting customers.")
    ),
    "notice_email": LaneLabel(lazy("Notification e-mail"), lazy("Members weren’t e-mailed their notifications.")),
    "notice_slack": LaneLabel(lazy("Slack message"), lazy("A member wasn’t notified in Slack.")),
    "notice_push": LaneLabel(lazy("Browser notification"), lazy("A member wasn’t notified in a browser.")),
    "limit_notice": LaneLabel(
        lazy("Limit notification"), lazy("Nobody was notified about a limit that is nearly used up or reached.")
    ),
    "evaluation": LaneLabel(lazy("Regression case"), lazy("The case has no result in this run.")),
    "erasure": LaneLabel(lazy("Erasure"), lazy("Some data about an erased customer wasn’t removed.")),
    "channel": LaneLabel(lazy("Message to the customer"), lazy("The customer didn’t get the message.")),
    "channel_files": LaneLabel(
        lazy("Files of the customer"), lazy("Files that the customer sent aren’t in the conversation.")
    ),
    "channel_link": LaneLabel(lazy("Connection of a channel"), lazy("The provider wasn’t told our webhook.")),
    "mailbox": LaneLabel(lazy("Mailbox"), lazy("New e-mails weren’t read.")),
    "calendar": LaneLabel(lazy("Calendar"), lazy("The booking is valid, but the connected calendar is out of date.")),
}

# The ordinal of these jobs is not a turn number.
LANES_WITHOUT_TURN = (
    "erasure",
    "channel",
    "channel_files",
    "channel_link",
    "effect",
    "todo",
    "operator_notice",
    "limit_notice",
    "notice_email",
    "notice_slack",
    "notice_push",
    "calendar",
    "mailbox",
    "evaluation",
)


@dataclass(frozen=True)
class Row:
    """A failed job, ready for the template."""

    id: UUID
    title: str
    meaning: str
    reason: str
    attempts: str
    turn: int
    conversation_id: UUID | None
    customer: str
    at: Timestamp


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def failed_jobs(request: HttpRequest, project_slug: str) -> HttpResponse:
    """List the newest failed jobs; POST retries one."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.OPERATE if is_post else Scope.READ, is_developer=True)
    with tenant_tx(entry.project.organization.pk):
        if is_post:
            _run_again(request, entry.project)
        else:
            jobs = _FAILED.newest(entry.project.pk)
            count = _FAILED.count(entry.project.pk, newest=jobs)
            rows = _rows(jobs, zone=zone_of(entry)) if jobs else []
    if is_post:
        return redirect("failed_jobs", project_slug=project_slug)
    context = {**shell_context(request, entry), "rows": rows, "count": count}
    return render(request, "failed_jobs/failed_jobs.html", context)


_FAILED = PreparedNewest(
    lambda project: Job.objects.filter(project_id=project, state=State.FAILED).order_by("-finished_at"),
    kinds=(UUID,),
    most=SHOWN,
)


def _run_again(request: HttpRequest, project: Project) -> None:
    try:
        job = run_again(project, UUID(request.POST.get("job", "")))
    except (ValueError, Job.DoesNotExist) as error:
        raise Http404 from error
    except WrongState as error:
        messages.error(request, str(error))
    except UnknownLane as error:
        messages.error(request, error.args[0])
    else:
        messages.success(request, gettext("%(title)s is queued again.") % {"title": _label(job.lane).title})


def _rows(jobs: list[Job], *, zone: str) -> list[Row]:
    conversations = _conversations(jobs)
    names = customer_names({row.persona_id for row in conversations.values()})
    return [_row(job, conversations.get(job.subject_id), names, zone=zone) for job in jobs]


def _conversations(jobs: Iterable[Job]) -> dict[UUID, Conversation]:
    """Conversations by subject id; the subject is a conversation or an effect."""
    subjects = {job.subject_id for job in jobs}
    effects = dict(Effect.objects.filter(pk__in=subjects).values_list("pk", "conversation_id"))
    wanted = subjects | {conversation for conversation in effects.values() if conversation}
    found = {row.pk: row for row in Conversation.objects.filter(pk__in=wanted)}
    through = {subject: found[parent] for subject, parent in effects.items() if parent in found}
    return {**found, **through}


def _row(job: Job, conversation: Conversation | None, names: Mapping[UUID, str], *, zone: str) -> Row:
    label = _label(job.lane)
    return Row(
        id=job.pk,
        title=label.title,
        meaning=label.meaning,
        reason=_reason(job.error),
        attempts=ngettext("%(number)s attempt", "%(number)s attempts", job.attempts) % {"number": job.attempts},
        turn=job.ordinal if job.lane not in LANES_WITHOUT_TURN else 0,
        conversation_id=conversation.pk if conversation else None,
        customer=names.get(conversation.persona_id, UNNAMED) if conversation else "",
        at=format_timestamp(job.finished_at or job.created_at, zone=zone),
    )


def _label(lane: str) -> LaneLabel:
    return LANES.get(lane) or LaneLabel(lane.replace("_", " ").capitalize(), gettext("Failed after the last attempt."))


def _reason(error: str) -> str:
    """The recorded error. Text that isn't a sentence comes from an unexpected exception."""
    if not error:
        return gettext("No reason recorded.")
    return (
        translated(error)
        if error.endswith((".", "!", "?", "”"))
        else gettext("Internal error: %(error)s") % {"error": error}
    )
