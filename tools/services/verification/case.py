"""Verification cases: the project, the customer on file, and the shared outcomes of the verification tools."""

from __future__ import annotations

from dataclasses import dataclass

from projects.models import Project
from projects.models.agent_config import CallerVerification
from tools.engine.execution.handler import Contact, ToolContext
from tools.engine.execution.outcome import Outcome
from tools.engine.hooks import read_contact
from tools.services.verification.codes import CodeHolder
from tools.services.verification.services import is_verified, verification_level

NOT_NEEDED = "You don't have to prove who you are here."
VERIFIED = "Thank you, you are verified."
NOTHING_ON_FILE = (
    "I can't verify who you are: we have no phone number and no e-mail address of you on file. "
    "A colleague can look into it for you."
)


@dataclass(frozen=True)
class Case:
    """A customer to verify."""

    project: Project
    level: CallerVerification
    contact: Contact
    holder: CodeHolder
    is_verified: bool

    @property
    def is_on_file(self) -> bool:
        return bool(self.contact.phone_on_file or self.contact.email_on_file)

    @property
    def region(self) -> str:
        return self.project.agent_version.config.region if self.project.agent_version else "US"


def open_case(context: ToolContext) -> Case | None:
    """Read the case in the tenant's transaction. Returns None outside of a conversation with a customer."""
    project = Project.objects.select_related("agent_version").get(pk=context.project_id)
    contact = read_contact(context.contact.persona_id) if context.contact else None
    if contact is None or context.conversation_id is None:
        return None
    return Case(
        project=project,
        level=verification_level(project),
        contact=contact,
        holder=CodeHolder(project, contact.persona_id, context.conversation_id),
        is_verified=is_verified(project, persona_id=contact.persona_id),
    )


def final_outcome(case: Case | None) -> Outcome | None:
    """Return the outcome if nothing is left to verify, or nothing can be; else None."""
    if case is None:
        return unverified_outcome(NOTHING_ON_FILE)
    if case.is_verified:
        return verified_outcome(NOT_NEEDED if case.level == "none" else VERIFIED)
    return None if case.is_on_file else unverified_outcome(NOTHING_ON_FILE)


def verified_outcome(told: str = VERIFIED) -> Outcome:
    return Outcome.done(told, result={"verified": True}, adapter="makegood")


def unverified_outcome(told: str, **result: bool) -> Outcome:
    """Not verified, which is a result and not an error."""
    return Outcome.done(told, result={"verified": False, **result}, adapter="makegood")
