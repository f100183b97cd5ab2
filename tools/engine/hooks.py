"""Functions that the tools call and the conversations provide. Each is called inside a tenant's transaction."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from uuid import UUID

from projects.common.hooks import Hook, Signal
from projects.models import Project
from tools.engine.execution.handler import Contact
from tools.models import Promise

# A persona's contact; None without a persona, and for one that is gone.
read_contact: Hook[Callable[[UUID | None], Contact | None]] = Hook("read_contact")
# The claims of a customer's last visit as a signed-in shopper; empty for none. Raises ApiError for an unknown customer.
read_shopper: Hook[Callable[[Project, UUID], Mapping[str, Any]]] = Hook("read_shopper")
# Flags a persona for staff, with the reason.
flag_customer: Hook[Callable[[UUID, str], None]] = Hook("flag_customer")
# A person has kept or withdrawn the promise.
promise_answered: Signal[[Promise]] = Signal()
