"""The onboarding checklist of a new project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import gettext

from conversations.models import Conversation
from projects.agents.templates_catalogue import are_example_hours, are_hours_confirmed, leftover_examples
from projects.connections.integration_types import KINDS
from projects.models import AgentVersion, Invitation, Member, Project
from projects.models.source import Source
from projects.records.attributes import resolve_attributes, set_attribute
from projects.widget.widgets import find_widget
from tenancy.prepared_queries import PreparedCounts

HIDDEN = "first_steps_hidden"


@dataclass(frozen=True)
class Step:
    """One step. `view` is the URL name of its page, `section` the page's section if it has any."""

    title: str
    why: str
    action: str
    view: str
    is_done: bool
    section: str = ""


def first_steps(project: Project) -> list[Step]:
    """The steps in order; empty once hidden. Completing every step hides them for good."""
    hidden = resolve_attributes(project).get(HIDDEN)
    if hidden and hidden.value:
        return []
    steps = _steps(project)
    if all(step.is_done for step in steps):
        hide_first_steps(project)
        return []
    return steps


def hide_first_steps(project: Project) -> None:
    """Hide the checklist for every member of the project."""
    set_attribute(project, HIDDEN, True)


def _steps(project: Project) -> list[Step]:
    version = cast("AgentVersion | None", project.agent_version)
    talks, sources, members, invitations = _COUNTS(project.pk)
    widget = find_widget(project.pk)
    return [
        Step(
            gettext("Talk to the agent"),
            gettext("Play the customer"),
            gettext("Open playground"),
            "playground",
            talks > 0,
        ),
        Step(
            gettext("Describe your business"),
            gettext("Address, offers, prices"),
            gettext("Describe"),
            "agent",
            _is_described(version),
        ),
        Step(
            gettext("Connect a model"),
            gettext("Until then, replies follow simple rules"),
            gettext("Connect"),
            "agent",
            _has_model(version),
            "models",
        ),
        Step(
            gettext("Connect messaging"),
            gettext("Texts and e-mails to your customers"),
            gettext("Connect"),
            "agent",
            sources > 0,
            "integrations",
        ),
        Step(
            gettext("Set opening hours"),
            gettext("Replies depend on them"),
            gettext("Set hours"),
            "agent",
            _has_hours(project, version),
            "hours",
        ),
        Step(
            gettext("Add the chat to your site"),
            gettext("One line of code"),
            gettext("Set up widget"),
            "widget",
            widget is not None and widget.is_enabled,
        ),
        Step(
            gettext("Invite a teammate"),
            gettext("They can reply to customers too"),
            gettext("Invite"),
            "members",
            members > 1 or invitations > 0,
        ),
    ]


def _has_model(version: AgentVersion | None) -> bool:
    """Return True if the server or the project has a model; the offline one doesn't count."""
    return not settings.OFFLINE_MODEL or bool(version and version.config.model_base_url)


def _done(project: UUID) -> list[QuerySet[Any]]:
    """Conversations, connected services for texts or e-mails, members and invitations, up to the number that counts."""
    senders = [kind.name for kind in KINDS.values() if not kind.is_looked_up]
    sources = Source.objects.filter(project_id=project, kind__in=senders, is_enabled=True, needs_reauth=False)
    talks = Conversation.objects.filter(project_id=project, last_message__gt=0)
    return [talks[:1], sources[:1], Member.objects.all()[:2], Invitation.objects.all()[:1]]


_COUNTS = PreparedCounts(_done, kinds=(UUID,))


def _is_described(version: AgentVersion | None) -> bool:
    """Return True once the template's example facts are replaced."""
    known = version.config.business_context if version else ""
    return bool(known) and not leftover_examples(known)


def _has_hours(project: Project, version: AgentVersion | None) -> bool:
    """Return True once a person saved the hours; the template's example hours don't count."""
    hours = version.document.get("hours") if version else None
    return are_hours_confirmed(project) or bool(hours and not are_example_hours(project, hours))
