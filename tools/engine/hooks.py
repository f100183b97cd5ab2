"""Hooks that the tools call and the conversations provide. Each runs inside a tenant's transaction."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any
from uuid import UUID

from projects.common.hooks import Hook, Signal
from projects.models import Project
from tools.engine.execution.handler import Consent, Contact
from tools.models import Promise

# Return a persona's contact; None without a persona or if it no longer exists.
read_contact: Hook[Callable[[UUID | None], Contact | None]] = Hook("read_contact")
# Return the id of the customer that an id stands for after merges. Until the commit they aren't merged into another.
lock_customer: Hook[Callable[[UUID], UUID]] = Hook("lock_customer")
# Return True if the newest change of this consent at one of the recipients withdrew it, in any conversation of the project.
is_withdrawn_at: Hook[Callable[[UUID, Consent, Collection[str]], bool]] = Hook("is_withdrawn_at")
# Return the claims of a customer's last visit as a signed-in shopper, or an empty mapping. Raises ApiError for an
# unknown customer.
read_shopper: Hook[Callable[[Project, UUID], Mapping[str, Any]]] = Hook("read_shopper")
# Return the sentence that tells the agent to verify the customer first, or "" if the project's level is met.
why_unverified: Hook[Callable[[Project, UUID | None], str]] = Hook("why_unverified")
# Return the display name of a conversation's customer, or "" if it is unknown.
customer_name: Hook[Callable[[UUID], str]] = Hook("customer_name")
# Flag a persona for staff, with the reason.
flag_customer: Hook[Callable[[UUID, str], None]] = Hook("flag_customer")
# Return the number of open conversations of a project, or of all projects of the organization.
count_open_conversations: Hook[Callable[[UUID | None], int]] = Hook("count_open_conversations")
# Sent when a person has marked a promise as kept or withdrawn it.
promise_answered: Signal[[Promise]] = Signal()
