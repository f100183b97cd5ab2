"""Jobs that failed: why, what it means, and running them again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from console.access import enter, zone_of
from console.layout import shell_context
from console.search import customer_names
from console.timestamps import Moment, moment_of
from conversations.models import Conversation
from jobs.errors import WrongState
from jobs.lanes import UnknownLane
from jobs.models import Job, State
from jobs.services import run_again
from projects.models import Project
from projects.models.key import Scope
from tenancy.scope import tenant_tx
from tools.models import Effect

SHOWN = 50


@dataclass(frozen=True)
class LaneWords:
    """A lane as people say it, and what its failure means for the customer."""

    title: str
    meaning: str


LANES: Mapping[str, LaneWords] = {
    "reply": LaneWords("Reply", "The customer was told that there is no answer right now."),
    "observer": LaneWords("Observer", "What this message says about the customer was not kept."),
    "thoughts": LaneWords("Thoughts", "The next reply goes by older directives."),
    "tool_caller": LaneWords("Tool caller", "Whether this reply promised something was not found out."),
    "effect": LaneWords("Effect", "What was promised was not done."),
    "todo": LaneWords("Todo", "An approved todo was given up; it says how far it came."),
    "follow_up": LaneWords("Follow-up", "The agent did not write again after the silence."),
    "summary": LaneWords("Summary", "The next prompts carry the longer transcript."),
    "extraction": LaneWords(
        "What is left to do", "Whether the conversation left something to be done was not found out."
    ),
    "make_good": LaneWords("Correction", "A promise broke, and no todo says how it is put right."),
    "todo_news": LaneWords("News of a todo", "The agent was not told what became of a todo."),
    "todo_notice": LaneWords("Notice to approvers", "Nobody was written to about todos that wait for a yes."),
    "operator_notice": LaneWords("Notice to operators", "Nobody was written to about customers who wait for a person."),
    "calendar": LaneWords("Calendar", "The booking stands, and the connected calendar doesn’t show it as it is."),
}

# Their jobs are ordered by something else than turns.
OF_NO_TURN = ("effect", "todo", "operator_notice", "calendar")


@dataclass(frozen=True)
class Row:
    """A failed job as the page shows it."""

    id: UUID
    title: str
    meaning: str
    reason: str
    attempts: str
    turn: int
    conversation_id: UUID | None
    customer: str
    at: Moment


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def failed_jobs(request: HttpRequest, project_slug: str) -> HttpResponse:
    """The newest failed jobs; POST runs one of them again."""
    is_post = request.method == "POST"
    entry = enter(request, project_slug, verb=Scope.OPERATE if is_post else Scope.READ)
    with tenant_tx(entry.project.organization.pk):
        if is_post:
            _run_again(request, entry.project)
        else:
            jobs = Job.objects.filter(project=entry.project, state=State.FAILED)
            count = jobs.count()
            rows = _rows(list(jobs.order_by("-finished_at")[:SHOWN]), zone=zone_of(entry))
    if is_post:
        return redirect("failed_jobs", project_slug=project_slug)
    context = {**shell_context(request, entry), "rows": rows, "count": count}
    return render(request, "failed_jobs/failed_jobs.html", context)


def _run_again(request: HttpRequest, project: Project) -> None:
    try:
        job = run_again(project, UUID(request.POST.get("job", "")))
    except (ValueError, Job.DoesNotExist) as error:
        raise Http404 from error
    except WrongState as error:
        messages.warning(request, str(error))
    except UnknownLane as error:
        messages.error(request, error.args[0])
    else:
        messages.success(request, f"{_words(job.lane).title} is queued again, with fresh attempts.")


def _rows(jobs: list[Job], *, zone: str) -> list[Row]:
    conversations = _conversations(jobs)
    names = customer_names({row.persona_id for row in conversations.values()})
    return [_row(job, conversations.get(job.subject_id), names, zone=zone) for job in jobs]


def _conversations(jobs: Iterable[Job]) -> dict[UUID, Conversation]:
    """The conversation of each subject: itself, or that of the effect."""
    subjects = {job.subject_id for job in jobs}
    effects = dict(Effect.objects.filter(pk__in=subjects).values_list("pk", "conversation_id"))
    wanted = subjects | {conversation for conversation in effects.values() if conversation}
    found = {row.pk: row for row in Conversation.objects.filter(pk__in=wanted)}
    through = {subject: found[parent] for subject, parent in effects.items() if parent in found}
    return {**found, **through}


def _row(job: Job, conversation: Conversation | None, names: Mapping[UUID, str], *, zone: str) -> Row:
    words = _words(job.lane)
    return Row(
        id=job.pk,
        title=words.title,
        meaning=words.meaning,
        reason=_reason(job.error),
        attempts="1 attempt" if job.attempts == 1 else f"{job.attempts} attempts",
        turn=job.ordinal if job.lane not in OF_NO_TURN else 0,
        conversation_id=conversation.pk if conversation else None,
        customer=names.get(conversation.persona_id, "Unnamed customer") if conversation else "",
        at=moment_of(job.finished_at or job.created_at, zone=zone),
    )


def _words(lane: str) -> LaneWords:
    return LANES.get(lane) or LaneWords(lane.replace("_", " ").capitalize(), "It was given up after its last attempt.")


def _reason(error: str) -> str:
    """What the job said when it gave up. What is no sentence comes from a fault in the code."""
    if not error:
        return "No reason was recorded."
    return error if error.endswith((".", "!", "?", "”")) else f"A fault of this server, not of your settings: {error}"
