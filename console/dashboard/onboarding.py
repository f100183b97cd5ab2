"""The first steps of a new project: what is done, what comes next, and whether anyone still wants to see them."""

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
    """One thing to do. `view` is the name of the page where it is done, `section` the one of its parts, if it has some."""

    title: str
    why: str
    action: str
    view: str
    is_done: bool
    section: str = ""


def first_steps(project: Project) -> list[Step]:
    """The steps in their order; none once they are hidden. All of them done hides them for good."""
    hidden = resolve_attributes(project).get(HIDDEN)
    if hidden and hidden.value:
        return []
    steps = _steps(project)
    if all(step.is_done for step in steps):
        hide_first_steps(project)
        return []
    return steps


def hide_first_steps(project: Project) -> None:
    """Never show them again in this project, to anyone."""
    set_attribute(project, HIDDEN, True)


def _steps(project: Project) -> list[Step]:
    version = cast("AgentVersion | None", project.agent_version)
    talked = Conversation.objects.filter(project=project, last_message__gt=0).exists()
    widget = find_widget(project)
    people = Member.objects.count() > 1 or Invitation.objects.exists()
    return [
        Step("Talk to the agent", "You play the customer", "Open the playground", "playground", talked),
        Step("Say who you are", "Your address, offers and prices", "Describe it", "agent", _is_described(version)),
        Step("Set working hours", "It answers by them", "Set hours", "agent", _has_hours(project, version), "hours"),
        Step(
            "Put the chat on your site",
            "One line to copy",
            "Set it up",
            "widget",
            widget is not None and widget.is_enabled,
        ),
        Step("Invite someone", "Two see more than one", "Invite", "members", people),
    ]


def _is_described(version: AgentVersion | None) -> bool:
    """A template's made-up address and prices describe nobody."""
    known = version.config.business_context if version else ""
    return bool(known) and not leftover_examples(known)


def _has_hours(project: Project, version: AgentVersion | None) -> bool:
    """A template's hours are nobody's until a person has saved them; open at any time is said by saving that."""
    hours = version.document.get("hours") if version else None
    return are_hours_confirmed(project) or bool(hours and not are_example_hours(project, hours))
