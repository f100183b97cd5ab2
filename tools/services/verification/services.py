"""Proofs of who a customer is: made, looked up, and asked for by the tools that show or change what is theirs (D14)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.functions import Now

from projects.models import Project
from projects.models.agent_config import CallerVerification
from tools.engine.execution.handler import ToolContext
from tools.models import Verification

# For so long a customer isn't asked again, in whichever conversation.
RECENT = timedelta(minutes=60)
# What satisfies a level: a code proves more than a number that matches.
METHODS: Mapping[CallerVerification, tuple[str, ...]] = {"basic": ("basic", "code"), "code": ("code",)}
VERIFY_FIRST = "It isn't sure yet who this is. Call `verify_caller` first, and then this again."


class Proof(NamedTuple):
    """A customer's newest proof of who they are."""

    verified_at: datetime
    is_recent: bool


def level_of(project: Project) -> CallerVerification:
    """How sure the project wants to be of whom its agent talks to."""
    return project.agent_version.config.caller_verification if project.agent_version else "none"


def last_proof(project: Project, *, persona_id: UUID) -> Proof | None:
    """When a customer last proved who they are as the project's level asks for it; None for never, and where it asks for nothing.

    One statement inside the tenant's transaction: asked in two, a proof that comes between them would be seen by one alone.
    """
    level = level_of(project)
    if level == "none":
        return None
    proofs = Verification.objects.filter(project=project, persona_id=persona_id, method__in=METHODS[level])
    is_recent = ExpressionWrapper(Q(verified_at__gt=Now() - RECENT), output_field=BooleanField())
    newest = proofs.order_by("-verified_at").values_list("verified_at", is_recent).first()
    return Proof(*newest) if newest else None


def is_verified(project: Project, *, persona_id: UUID | None) -> bool:
    """Whether a customer has proved who they are within the last 60 minutes, as far as the project's level asks for it.

    Inside the tenant's transaction. At the level `none` everybody has; nobody can who isn't known.
    """
    if level_of(project) == "none":
        return True
    proof = last_proof(project, persona_id=persona_id) if persona_id else None
    return proof is not None and proof.is_recent


def why_not_verified(project: Project, context: ToolContext) -> str:
    """Why a tool must not show or change what is the customer's yet, as the sentence that the agent is told; "" if it may."""
    persona_id = context.contact.persona_id if context.contact else None
    return "" if is_verified(project, persona_id=persona_id) else VERIFY_FIRST


def note_verified(project: Project, *, persona_id: UUID, conversation_id: UUID, method: str) -> Verification:
    """Put down that a customer has proved who they are, by `basic` or `code`."""
    return Verification.objects.create(
        project=project, persona_id=persona_id, conversation_id=conversation_id, method=method
    )
