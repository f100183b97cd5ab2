"""Proofs of customers' identity: record them, look them up, and require them in tools."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db.models import BooleanField, ExpressionWrapper, Q
from django.db.models.functions import Now

from projects.models import Project
from projects.models.agent_config import CallerVerification
from tools.models import Verification

# A proof is valid for this long, in every conversation.
RECENT = timedelta(minutes=60)
# Methods that satisfy a level; a code proves more than a matching number.
METHODS: Mapping[CallerVerification, tuple[str, ...]] = {"basic": ("basic", "code"), "code": ("code",)}
VERIFY_FIRST = "It isn't sure yet who this is. Call `verify_caller` first, and then this again."


class Proof(NamedTuple):
    """The newest proof of a customer's identity."""

    verified_at: datetime
    is_recent: bool


def verification_level(project: Project) -> CallerVerification:
    """Return the verification level that the project requires."""
    return project.agent_version.config.caller_verification if project.agent_version else "none"


def last_proof(project: Project, *, persona_id: UUID) -> Proof | None:
    """Return the customer's newest proof that satisfies the project's level; None if there is none, or none is
    required.

    One statement, inside the tenant's transaction: of two, only one would see a proof recorded in between.
    """
    level = verification_level(project)
    if level == "none":
        return None
    proofs = Verification.objects.filter(project=project, persona_id=persona_id, method__in=METHODS[level])
    is_recent = ExpressionWrapper(Q(verified_at__gt=Now() - RECENT), output_field=BooleanField())
    newest = proofs.order_by("-verified_at").values_list("verified_at", is_recent).first()
    return Proof(*newest) if newest else None


def is_verified(project: Project, *, persona_id: UUID | None) -> bool:
    """Return True if the customer has proved their identity within the last 60 minutes, as the project's level
    requires.

    Runs inside the tenant's transaction. At the level `none`, everybody is verified; at others, an unknown customer
    never is.
    """
    if verification_level(project) == "none":
        return True
    proof = last_proof(project, persona_id=persona_id) if persona_id else None
    return proof is not None and proof.is_recent


def why_unverified(project: Project, persona_id: UUID | None) -> str:
    """Return the sentence that tells the agent to verify the customer first, or "" if the customer is verified."""
    return "" if is_verified(project, persona_id=persona_id) else VERIFY_FIRST


def record_verification(project: Project, *, persona_id: UUID, conversation_id: UUID, method: str) -> Verification:
    """Record a proof of the customer's identity, by `basic` or `code`."""
    return Verification.objects.create(
        project=project, persona_id=persona_id, conversation_id=conversation_id, method=method
    )
