"""What a voice's model is told while it speaks (T28)."""

from __future__ import annotations

from dataclasses import dataclass

from conversations.common.prompt_shapes import DirectivesView
from llm.prompts import render


@dataclass(frozen=True)
class SessionContext:
    """The variables of templates/prompts/session: one update has one of them."""

    directives: DirectivesView | None = None
    urgent: str = ""
    correction: str = ""


def guidance() -> str:
    """How the updates are to be read: the model is told when its session begins."""
    return render("session", SessionContext(), stable="session").system.strip()


def update_text(context: SessionContext) -> str:
    """One update as the model reads it; what stands in it can't close our tags."""
    return render("session", context, stable="session").user.strip()
