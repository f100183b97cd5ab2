"""Updates for a voice's realtime model during a call."""

from __future__ import annotations

from dataclasses import dataclass

from conversations.common.prompt_shapes import DirectivesView
from llm.prompts import render


@dataclass(frozen=True)
class SessionContext:
    """Variables of templates/prompts/session. Each update sets one of them."""

    directives: DirectivesView | None = None
    from_business: str = ""
    urgent: str = ""
    correction: str = ""


def guidance() -> str:
    """Instructions for reading the updates; the model gets them when its session starts."""
    return render("session", SessionContext(), stable="session").system.strip()


def update_text(context: SessionContext) -> str:
    """The text of one update for the model. Its content can't close our tags."""
    return render("session", context, stable="session").user.strip()
