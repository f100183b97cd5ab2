"""The onboarding checklist of a new project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from conversations.models import Conversation
from projects.agents.templates_catalogue import are_example_hours, are_hours_confirmed, leftover_examples
from projects.models import AgentVersion, Invitation, Member, Project
from projects.records.attributes import resolve_attributes, set_attribute
from projects.widget.widgets import find_widget

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
    talked = Conversation.objects.filter(project=project, last_message__gt=0).exists()
    widget = find_widget(project)
    people = Member.objects.count() > 1 or Invitation.objects.exists()
    return [
        Step("Talk to the agent", "Play the customer", "Open playground", "playground", talked),
        Step("Describe your business", "Address, offers, prices", "Describe it", "agent", _is_described(version)),
        Step("Set opening hours", "Answers follow them", "Set hours", "agent", _has_hours(project, version), "hours"),
        Step(
            "Add the chat to your site",
            "One line of code",
            "Set up widget",
            "widget",
            widget is not None and widget.is_enabled,
        ),
        Step("Invite a colleague", "They can answer customers too", "Invite", "members", people),
    ]


def _is_described(version: AgentVersion | None) -> bool:
    """Return True once the template's example facts are replaced."""
    known = version.config.business_context if version else ""
    return bool(known) and not leftover_examples(known)


def _has_hours(project: Project, version: AgentVersion | None) -> bool:
    """Return True once a person saved the hours; the template's example hours don't count."""
    hours = version.document.get("hours") if version else None
    return are_hours_confirmed(project) or bool(hours and not are_example_hours(project, hours))
