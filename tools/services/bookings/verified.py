"""Verification guard for handlers that reveal or change a customer's bookings."""

from __future__ import annotations

from projects.models import Project
from tools.engine.execution.handler import ToolContext
from tools.engine.execution.outcome import Outcome
from tools.services.bookings.handler_adapter import A, HandlerBody, refused
from tools.services.verification.services import verification_refusal


def requires_verification(work: HandlerBody[A]) -> HandlerBody[A]:
    """Return the body guarded by the project's verification level: until the customer is verified, the agent reads what
    to do.
    """

    def checked(project: Project, asked: A, context: ToolContext) -> Outcome:
        if why_not := verification_refusal(project, context):
            return refused(why_not)
        return work(project, asked, context)

    return checked
