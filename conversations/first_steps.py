"""The first steps of a new project: what is done, what comes next, and whether anyone still wants to see them."""

from __future__ import annotations

from dataclasses import dataclass

from conversations.models import Conversation
from projects.agent import AgentConfig
from projects.attributes import resolve_attributes, set_attribute
from projects.models import Invitation, Member, Project
from projects.starters import is_still_example
from projects.widgets import find_widget

HIDDEN = "first_steps_hidden"


@dataclass(frozen=True)
class Step:
    """One thing to do. `view` is the name of the page where it is done."""

    title: str
    why: str
    action: str
    view: str
    is_done: bool


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
    version = project.agent_version
    talked = Conversation.objects.filter(project=project, last_message__gt=0).exists()
    config = version.config if version else None
    described = config is not None and _is_described(config)
    widget = find_widget(project)
    people = Member.objects.count() > 1 or Invitation.objects.exists()
    return [
        Step("Talk to the agent", "You play the customer", "Open the playground", "playground", talked),
        Step("Say who you are", "Your address, offers and prices", "Describe it", "agent", described),
        Step("Set working hours", "It answers by them", "Set hours", "agent", bool(config and config.hours)),
        Step(
            "Put the chat on your site",
            "One line to copy",
            "Set it up",
            "widget",
            widget is not None and widget.is_enabled,
        ),
        Step("Invite someone", "Two see more than one", "Invite", "members", people),
    ]


def _is_described(config: AgentConfig) -> bool:
    """A template's made-up address and prices describe nobody."""
    known = config.business_context
    return bool(known) and not is_still_example(known, business=config.business_name)
