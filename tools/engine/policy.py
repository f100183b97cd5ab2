"""The policies of kinds: one row holds for every tool of the kind, whichever moment it runs at.

A kind is the effect a tool has on the world: `send_sms` and `send_portal_link` are both `sms`. The rules in
`tools.engine.execution.rules` read these rows when an effect is planned and again before it is sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext

from projects.models.agent_config import EscalationAction
from projects.models.attribute_catalogue import KIND_LIMITS
from projects.records.attributes import GATES, Resolved, WrongValue, is_on
from tools.engine.business_state import BusinessState
from tools.engine.execution.handler import AddressedBy, Consent

CANCELLATION_TYPE = f"{GATES}booking_cancellation_type"
# Types of cancellation that the agent may carry out; with the others, a person does.
AGENT_CANCELS = frozenset({"endpoint", "project"})


@dataclass(frozen=True)
class KindPolicy:
    """The rules of one kind.

    `switches` are attributes that open the kind: once the business has set one, the kind is closed while none is on and
    no escalation rule has the `escalation` action. `addressed_by` is the customer's detail that the kind is sent to, and
    `consent` the customer's permission that it needs; a customer who has not been asked counts as willing. A repeat
    within `repeat_window` is held; kinds with the same `repeats_as` repeat each other.

    The limits count per day, and None is no limit. `max_from_visitors` counts per VISITOR_WINDOW, and only what goes to
    addresses that anonymous visitors gave. Settings of the project replace some limits: `policy_with`.
    """

    switches: tuple[str, ...] = ()
    escalation: EscalationAction | None = None
    consent: Consent | None = None
    addressed_by: AddressedBy | None = None
    needs_verification: bool = False
    max_per_conversation: int = 30
    max_per_recipient: int = 20
    max_per_project: int | None = None
    max_from_visitors: int | None = None
    repeat_window: timedelta = timedelta(minutes=10)
    repeats_as: str = ""


_BOOKING = f"{GATES}booking_enabled"
# A second booking at the same time is probably a mistake, and a meeting serves the same request.
_RESERVED = timedelta(hours=24)
POLICIES: Mapping[str, KindPolicy] = {
    "sms": KindPolicy(
        switches=(f"{GATES}sms_send_information_enabled", f"{GATES}booking_manage_url_enabled"),
        escalation="message",
        consent="sms",
        addressed_by="phone",
        max_per_conversation=10,
        max_per_project=200,
        max_from_visitors=10,
    ),
    "email": KindPolicy(
        consent="email", addressed_by="email", max_per_conversation=10, max_per_project=500, max_from_visitors=20
    ),
    # Messages of conversations on their way to a messenger. Limits of turns count what causes them.
    "channel_message": KindPolicy(max_per_conversation=2_000),
    "verification_code": KindPolicy(max_per_project=200),
    "booking": KindPolicy(switches=(_BOOKING,), repeat_window=_RESERVED),
    "meeting": KindPolicy(repeat_window=_RESERVED, repeats_as="booking"),
    "booking_cancel": KindPolicy(switches=(f"{GATES}booking_cancellation_enabled",), needs_verification=True),
    "booking_search": KindPolicy(switches=(_BOOKING,), needs_verification=True),
    "availability": KindPolicy(switches=(f"{GATES}booking_check_availability_enabled",)),
}
_DEFAULT = KindPolicy()
HIGHEST_LIMIT = 10**12
VISITOR_WINDOW = timedelta(minutes=10)


def policy_of(kind: str) -> KindPolicy:
    """The policy of a kind; kinds without a row, such as webhooks, have the default limits and no other rule."""
    return POLICIES.get(kind, _DEFAULT)


def policy_with(kind: str, attributes: Mapping[str, Resolved]) -> KindPolicy:
    """The policy of a kind with the limits that the project has set."""
    policy = policy_of(kind)
    keys = {limit: key for (of, limit), key in KIND_LIMITS.items() if of == kind}
    own = {limit: attributes[key].value for limit, key in keys.items() if key in attributes}
    limits: dict[str, Any] = {
        limit: most for limit, most in own.items() if isinstance(most, int) and not isinstance(most, bool)
    }
    return replace(policy, **limits) if limits else policy


def check_limit(key: str, value: Any) -> int:
    """Validate the setting of a limit. Raises WrongValue."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= HIGHEST_LIMIT:
        raise WrongValue(gettext("%(key)s must be a whole number from 0, like 200.") % {"key": key})
    return value


def why_kind_closed(kind: str, state: BusinessState) -> str:
    """Return the reason why the business doesn't allow this kind of action, or ""."""
    policy, attributes = policy_of(kind), state.attributes
    if kind == "booking_cancel" and CANCELLATION_TYPE in attributes:
        type = attributes[CANCELLATION_TYPE].value
        if type not in AGENT_CANCELS:
            return f"{CANCELLATION_TYPE} is {type}, neither endpoint nor project"
    is_set = any(key in attributes for key in policy.switches)
    is_open = any(is_on(attributes, key) for key in policy.switches) or policy.escalation in state.escalations
    return (
        f"{' and '.join(policy.switches)} {'is' if len(policy.switches) == 1 else 'are'} not True"
        if is_set and not is_open
        else ""
    )
