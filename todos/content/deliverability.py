"""Deliverability of a todo's messages, checked before approval."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from projects.common.translation import lazy
from todos.content.plans import names_addressee
from todos.content.snapshot import contact_for, recipients_of
from todos.models import Todo
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.consent import CONSENT_WORDS
from tools.engine.execution.handler import Contact
from tools.engine.execution.limits import recipient_of
from tools.engine.policy import policy_of


class MissingContact(StrEnum):
    """The contact detail, or the consent, that a message lacks."""

    ADDRESSES = "addresses"
    CUSTOMER = "customer"
    EMAIL = "email"
    PHONE = "phone"
    OTHER_PHONE = "other_phone"
    CONSENT = "consent"


SENTENCES = {
    MissingContact.ADDRESSES: lazy("There are no recipients. Add addresses here or to the todo's type."),
    MissingContact.CUSTOMER: lazy("This goes to the customer, but the todo has none. Choose a customer."),
    MissingContact.EMAIL: lazy("The customer has no e-mail address. Add one, or choose another tool."),
    MissingContact.PHONE: lazy("The customer has no phone number. Add one, or choose another tool."),
    MissingContact.OTHER_PHONE: lazy("The customer's number can't be texted."),
    MissingContact.CONSENT: lazy("The customer doesn't want {what}. Choose another tool."),
}
# The contact detail that each kind of message needs.
CONTACT_NEEDED = {"email": MissingContact.EMAIL, "sms": MissingContact.PHONE}

# Returns the reason why a customer's number can't be texted, as a sentence; empty if it can.
TextRefusal = Callable[[Contact], str]


@dataclass(frozen=True)
class Undeliverable:
    """A message that would reach nobody, by kind and missing contact detail; `detail` adds to the reason."""

    kind: str
    missing: MissingContact
    detail: str = ""

    @property
    def reason(self) -> str:
        return f"{SENTENCES[self.missing].format(what=CONSENT_WORDS.get(self.kind, ''))} {self.detail}".rstrip()


def needs_contact(tool: CompiledTool) -> bool:
    """True if the tool writes to the customer at their stored address."""
    return policy_of(tool.kind).addressed_by is not None and not names_addressee(tool)


def undeliverable_messages(
    todo: Todo,
    tools: Sequence[CompiledTool],
    contacts: Mapping[UUID, Contact] | None,
    *,
    text_refusal: TextRefusal | None,
) -> list[Undeliverable]:
    """The todo's messages that would reach nobody; missing customer details come first.

    `contacts` are as in `why_not_runnable`. Without a refusal function, the project's texting rules and the customer's
    consent are not checked; both are when the message is sent.
    """
    # A frozen tool's addressee is among its arguments, which were validated with the plan.
    is_named = bool(todo.tool or todo.effect_id or recipients_of(todo))
    own = {tool.kind: None for tool in tools if needs_contact(tool)}
    contact = _customer_of(todo, contacts, tools) if own else None
    found = [one for kind in own if (one := _check_contact(kind, contact, text_refusal))]
    if not is_named and (others := [tool.kind for tool in tools if names_addressee(tool)]):
        found.append(Undeliverable(others[0], MissingContact.ADDRESSES))
    return found


def is_only_messages(tools: Sequence[CompiledTool], unsent: Sequence[Undeliverable]) -> bool:
    """True if the tools do nothing besides sending the undeliverable messages."""
    own = {one.kind for one in unsent if one.missing != MissingContact.ADDRESSES}
    is_unnamed = any(one.missing == MissingContact.ADDRESSES for one in unsent)
    return all((tool.kind in own) if needs_contact(tool) else is_unnamed and names_addressee(tool) for tool in tools)


def _customer_of(todo: Todo, contacts: Mapping[UUID, Contact] | None, tools: Sequence[CompiledTool]) -> Contact | None:
    """The todo's customer, from `contacts` if given."""
    if contacts is None:
        return contact_for(todo, tools)
    return contacts.get(todo.persona_id) if todo.persona_id is not None else None


def _check_contact(kind: str, contact: Contact | None, text_refusal: TextRefusal | None) -> Undeliverable | None:
    if contact is None:
        return Undeliverable(kind, MissingContact.CUSTOMER)
    if text_refusal is not None and policy_of(kind).consent in contact.refused:
        return Undeliverable(kind, MissingContact.CONSENT)
    if not recipient_of(kind, contact):
        return Undeliverable(kind, CONTACT_NEEDED[kind])
    if kind == "sms" and text_refusal is not None and (refusal := text_refusal(contact)):
        return Undeliverable(kind, MissingContact.OTHER_PHONE, refusal)
    return None
