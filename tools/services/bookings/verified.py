"""What only the customer themselves may be told or may change, where the project wants to be sure of who they are (D14)."""

from __future__ import annotations

from projects.models import Project
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.bookings.handler_adapter import A, Work, refused
from tools.services.verification.services import why_not_verified


def verified(work: Work[A]) -> Work[A]:
    """The work, once it is sure who the customer is; before that the agent is told to find out."""

    def checked(project: Project, asked: A, context: ToolContext) -> Outcome:
        if why_not := why_not_verified(project, context):
            return refused(why_not)
        return work(project, asked, context)

    return checked
