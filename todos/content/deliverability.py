"""Whom a todo's letters reach, asked before anybody says yes to it (L10, L11)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from todos.content.plans import names_addressee
from todos.content.snapshot import recipients_of
from todos.models import Todo
from tools.engine.catalogue import CompiledTool
from tools.engine.execution.handler import Contact
from tools.engine.execution.limits import WRITTEN_KINDS, recipient_of
from tools.engine.hooks import read_contact


class MissingContact(StrEnum):
    """What a letter needs to reach anybody, and hasn't."""

    ADDRESSES = "addresses"
    CUSTOMER = "customer"
    EMAIL = "email"
    PHONE = "phone"
    OTHER_PHONE = "other_phone"


SENTENCES = {
    MissingContact.ADDRESSES: "There is nobody to write to: name the addresses here, or with its type.",
    MissingContact.CUSTOMER: "It goes to the customer, and this todo has none: choose whose it is.",
    MissingContact.EMAIL: "The customer has no e-mail address: fill it in, or choose another way.",
    MissingContact.PHONE: "The customer has no phone number: fill it in, or choose another way.",
    MissingContact.OTHER_PHONE: "No text may go to the customer's number.",
}
# By the kind of letter: what it goes to.
GOES_TO = {"email": MissingContact.EMAIL, "sms": MissingContact.PHONE}

# Why no text may go to a number, as a sentence; empty where one may.
Refusal = Callable[[str], str]


@dataclass(frozen=True)
class Undeliverable:
    """A letter that would reach nobody: its kind, what it lacks, and that as a sentence; `more` says why, where it says more."""

    kind: str
    lack: MissingContact
    more: str = ""

    @property
    def reason(self) -> str:
        return f"{SENTENCES[self.lack]} {self.more}".rstrip()


def needs_contact(tool: CompiledTool) -> bool:
    """Whether the tool writes to the customer, at the address that is known of them."""
    return tool.kind in WRITTEN_KINDS and not names_addressee(tool)


def undeliverable_messages(
    todo: Todo,
    tools: Sequence[CompiledTool],
    contacts: Mapping[UUID, Contact] | None,
    *,
    not_texted: Refusal | None = None,
) -> list[Undeliverable]:
    """Those of the todo's tools that would write to nobody, what is wrong with its customer first.

    `contacts` are as `why_not_runnable` takes them. Without `not_texted` no number is held against what the project texts to.
    """
    # A frozen tool's addressee is among its arguments, which were checked with the plan.
    is_named = bool(todo.tool or todo.effect_id or recipients_of(todo))
    own = {tool.kind: None for tool in tools if needs_contact(tool)}
    contact = _customer_of(todo, contacts) if own else None
    found = [one for kind in own if (one := _unreached(kind, contact, not_texted))]
    if not is_named and (others := [tool.kind for tool in tools if names_addressee(tool)]):
        found.append(Undeliverable(others[0], MissingContact.ADDRESSES))
    return found


def is_only_letters(tools: Sequence[CompiledTool], unsent: Sequence[Undeliverable]) -> bool:
    """Whether nothing that the tools do is left when what would reach nobody is taken away."""
    own = {one.kind for one in unsent if one.lack != MissingContact.ADDRESSES}
    is_unnamed = any(one.lack == MissingContact.ADDRESSES for one in unsent)
    return all((tool.kind in own) if needs_contact(tool) else is_unnamed and names_addressee(tool) for tool in tools)


def _customer_of(todo: Todo, contacts: Mapping[UUID, Contact] | None) -> Contact | None:
    """The todo's customer, among those that the caller has."""
    if contacts is None:
        return read_contact(todo.persona_id)
    return contacts.get(todo.persona_id) if todo.persona_id is not None else None


def _unreached(kind: str, contact: Contact | None, not_texted: Refusal | None) -> Undeliverable | None:
    if contact is None:
        return Undeliverable(kind, MissingContact.CUSTOMER)
    if not recipient_of(kind, contact):
        return Undeliverable(kind, GOES_TO[kind])
    if kind == "sms" and not_texted is not None and (refusal := not_texted(contact.phone)):
        return Undeliverable(kind, MissingContact.OTHER_PHONE, refusal)
    return None
