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
from tools.engine.execution.limits import LETTERS, recipient_of
from tools.engine.hooks import read_contact


class Lack(StrEnum):
    """What a letter needs to reach anybody, and hasn't."""

    ADDRESSES = "addresses"
    CUSTOMER = "customer"
    EMAIL = "email"
    PHONE = "phone"
    OTHER_PHONE = "other_phone"


SENTENCES = {
    Lack.ADDRESSES: "There is nobody to write to: name the addresses here, or with its type.",
    Lack.CUSTOMER: "It goes to the customer, and this todo has none: choose whose it is.",
    Lack.EMAIL: "The customer has no e-mail address: fill it in, or choose another way.",
    Lack.PHONE: "The customer has no phone number: fill it in, or choose another way.",
    Lack.OTHER_PHONE: "No text may go to the customer's number.",
}
# By the kind of letter: what it goes to.
GOES_TO = {"email": Lack.EMAIL, "sms": Lack.PHONE}

# Why no text may go to a number, as a sentence; empty where one may.
Refusal = Callable[[str], str]


@dataclass(frozen=True)
class Unsent:
    """A letter that would reach nobody: its kind, what it lacks, and that as a sentence; `more` says why, where it says more."""

    kind: str
    lack: Lack
    more: str = ""

    @property
    def reason(self) -> str:
        return f"{SENTENCES[self.lack]} {self.more}".rstrip()


def needs_contact(tool: CompiledTool) -> bool:
    """Whether the tool writes to the customer, at the address that is known of them."""
    return tool.kind in LETTERS and not names_addressee(tool)


def unsent_letters(
    todo: Todo,
    tools: Sequence[CompiledTool],
    contacts: Mapping[UUID, Contact] | None,
    *,
    not_texted: Refusal | None = None,
) -> list[Unsent]:
    """Those of the todo's tools that would write to nobody, what is wrong with its customer first.

    `contacts` are as `why_not_runnable` takes them. Without `not_texted` no number is held against what the project texts to.
    """
    # A frozen tool's addressee is among its arguments, which were checked with the plan.
    is_named = bool(todo.tool or todo.effect_id or recipients_of(todo))
    own = {tool.kind: None for tool in tools if needs_contact(tool)}
    contact = _customer_of(todo, contacts) if own else None
    found = [one for kind in own if (one := _unreached(kind, contact, not_texted))]
    if not is_named and (others := [tool.kind for tool in tools if names_addressee(tool)]):
        found.append(Unsent(others[0], Lack.ADDRESSES))
    return found


def is_only_letters(tools: Sequence[CompiledTool], unsent: Sequence[Unsent]) -> bool:
    """Whether nothing that the tools do is left when what would reach nobody is taken away."""
    own = {one.kind for one in unsent if one.lack != Lack.ADDRESSES}
    is_unnamed = any(one.lack == Lack.ADDRESSES for one in unsent)
    return all((tool.kind in own) if needs_contact(tool) else is_unnamed and names_addressee(tool) for tool in tools)


def _customer_of(todo: Todo, contacts: Mapping[UUID, Contact] | None) -> Contact | None:
    """The todo's customer, among those that the caller has."""
    if contacts is None:
        return read_contact(todo.persona_id)
    return contacts.get(todo.persona_id) if todo.persona_id is not None else None


def _unreached(kind: str, contact: Contact | None, not_texted: Refusal | None) -> Unsent | None:
    if contact is None:
        return Unsent(kind, Lack.CUSTOMER)
    if not recipient_of(kind, contact):
        return Unsent(kind, GOES_TO[kind])
    if kind == "sms" and not_texted is not None and (refusal := not_texted(contact.phone)):
        return Unsent(kind, Lack.OTHER_PHONE, refusal)
    return None
