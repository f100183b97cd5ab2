"""The rules that an effect must pass when it is planned, and again before each attempt, at every moment.

They depend on the kind (`tools.engine.policy`), never on the tool that carries it. Repeats, limits and approval follow
in `EffectRun.begin`, because they need the conversation's lock.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from uuid import UUID

from projects.models import Project
from tools.engine.builtin_tool import BusinessState
from tools.engine.business_state import read_state
from tools.engine.catalogue import CUSTOM, needs_approval_now, why_not
from tools.engine.execution.consent import is_refused, refusal_reason, refusal_told
from tools.engine.execution.handler import Contact
from tools.engine.execution.limits import recipient_of
from tools.engine.hooks import read_contact, why_unverified
from tools.engine.policy import KindPolicy, policy_of, policy_with, why_kind_closed
from tools.engine.registry import builtin_tools
from tools.models import CustomTool, Effect, EffectOrigin


class Rule(StrEnum):
    """The rules, in the order they are checked."""

    GATE = "gate"
    CONSENT = "consent"
    VERIFICATION = "verification"


@dataclass(frozen=True)
class Refusal:
    """The rule that refuses an effect, the reason for staff, and the sentence for the agent."""

    rule: Rule
    reason: str
    told: str = ""

    @property
    def is_withdrawal(self) -> bool:
        """True if the business took the tool back, which cancels the effect; otherwise the effect fails."""
        return self.rule is Rule.GATE


@dataclass(frozen=True)
class RuleInput:
    """An effect and what the rules read, inside the running transaction.

    `channel` is None for todos, which run outside of any channel. `visitor` is the address range of an anonymous
    visitor; empty for others.
    """

    effect: Effect
    project: Project
    channel: str | None
    persona_id: UUID | None
    visitor: str = ""

    @property
    def policy(self) -> KindPolicy:
        return policy_of(self.effect.kind)

    @property
    def limits(self) -> KindPolicy:
        """The policy with the limits that the project has set."""
        return policy_with(self.effect.kind, self.state.attributes)

    @property
    def visitor_limited(self) -> str:
        """The visitor, if the effect goes to an address that only they have given; "" otherwise."""
        if not self.visitor or self.policy.max_from_visitors is None:
            return ""
        return "" if self.effect.recipient in _on_file(self.contact) else self.visitor

    @cached_property
    def state(self) -> BusinessState:
        state = read_state(self.project, channel=self.channel or "")
        tool = builtin_tools().get(self.effect.tool)
        # Outside of a channel, a tool that is bound to some is judged as on one of them.
        return replace(state, channel=tool.channels[0]) if self.channel is None and tool and tool.channels else state

    @cached_property
    def contact(self) -> Contact | None:
        """The customer's current details; a consent may have been withdrawn a moment ago."""
        return read_contact(self.persona_id)

    @property
    def needs_approval(self) -> bool:
        """True if the business requires a person's approval of this kind by now."""
        return needs_approval_now(self.effect.kind, self.state)


def find_refusal(read: RuleInput) -> Refusal | None:
    """The first rule that refuses the effect, or None."""
    return next((refusal for check in CHECKS if (refusal := check(read))), None)


def _gate(read: RuleInput) -> Refusal | None:
    reason = _why_gone(read)
    return Refusal(Rule.GATE, reason) if reason else None


def _why_gone(read: RuleInput) -> str:
    """Return the reason why the tool or its kind may no longer be used, or "". An edited tool runs as it was planned."""
    effect = read.effect
    if effect.tool_origin == CUSTOM:
        row = CustomTool.objects.filter(project=read.project, name=effect.tool).first()
        if row is None or row.is_removed:
            return f"The tool {effect.tool} was removed."
        if not row.is_enabled:
            return f"The tool {effect.tool} was switched off."
        closed = why_kind_closed(effect.kind, read.state) if policy_of(effect.kind).switches else ""
    elif effect.origin == EffectOrigin.EVENT:
        # Sent through the API, and named by no tool: it belongs to its subscriber.
        return ""
    else:
        tool = builtin_tools().get(effect.tool)
        if tool is None:
            return f"The tool {effect.tool} was removed."
        closed = why_not(tool, read.state)
    return f"The tool {effect.tool} was switched off: {closed}." if closed else ""


def _consent(read: RuleInput) -> Refusal | None:
    consent = read.policy.consent
    if consent is None:
        return None
    effect, contact = read.effect, read.contact
    own = recipient_of(effect.kind, contact)
    # An addressee that was chosen and approved is bound by a refusal of theirs only.
    is_for_other = bool(effect.recipient) and effect.recipient != own and _names_addressee(effect)
    recipients = {effect.recipient} if is_for_other else {effect.recipient, own}
    if not is_refused(
        consent, project_id=read.project.pk, contact=None if is_for_other else contact, recipients=recipients
    ):
        return None
    return Refusal(Rule.CONSENT, refusal_reason(consent), refusal_told(consent))


def _on_file(contact: Contact | None) -> set[str]:
    """The addresses that the business knows the customer by, as effects name them."""
    if contact is None:
        return set()
    known = replace(contact, phone=contact.phone_on_file, email=contact.email_on_file)
    return {known.address("phone"), known.address("email")} - {""}


def _names_addressee(effect: Effect) -> bool:
    tool = builtin_tools().get(effect.tool)
    return tool is not None and tool.handler is not None and bool(tool.handler.addressee)


def _verification(read: RuleInput) -> Refusal | None:
    if not read.policy.needs_verification:
        return None
    sentence = why_unverified(read.project, read.persona_id)
    return Refusal(Rule.VERIFICATION, sentence, sentence) if sentence else None


CHECKS: Sequence[Callable[[RuleInput], Refusal | None]] = (_gate, _consent, _verification)
