"""The first steps of a new project: what is done, what comes next, and whether anyone still wants to see them."""

from __future__ import annotations

from dataclasses import dataclass

from conversations.models import Conversation
from projects.attributes import resolve_attributes, set_attribute
from projects.models import ApiKey, Invitation, Member, Project

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
    keys = ApiKey.objects.filter(project=project, revoked_at=None).exists()
    people = Member.objects.count() > 1 or Invitation.objects.exists()
    return [
        Step("Talk to the agent", "You play the customer", "Open the playground", "playground", talked),
        Step("Set working hours", "It answers by them", "Set hours", "agent", bool(version and version.config.hours)),
        Step("Make an API key", "Your programs talk with it", "Make a key", "api_keys", keys),
        Step("Invite someone", "Two see more than one", "Invite", "members", people),
    ]
