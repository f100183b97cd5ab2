"""Consent: the customer's permission for texts, e-mails, calls and recordings, as every tool is bound to it.

A refusal binds the customer who said it, and everyone with the phone number or e-mail address that they had then.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from uuid import UUID

from tools.engine.execution.handler import AddressedBy, Consent, Contact
from tools.engine.hooks import is_withdrawn_at

# The detail of the customer that each consent is bound to.
BOUND_TO: Mapping[Consent, AddressedBy] = {"sms": "phone", "email": "email", "call": "phone", "recording": "phone"}
CONSENT_WORDS: Mapping[str, str] = {
    "sms": "text messages",
    "email": "e-mails",
    "call": "calls",
    "recording": "recordings",
}
REFUSED = "The customer doesn't want {what}."
REFUSED_TOLD = "Not done: the customer has said that they don't want {what}. Say so, don't promise it again, and offer another way."


def is_refused(
    consent: Consent, *, project_id: UUID, contact: Contact | None, recipients: Collection[str] = ()
) -> bool:
    """True if the customer has refused, or one of the recipients has; by default, the customer's own address.

    Runs in the tenant's transaction, with one query unless the customer's own fields answer it.
    """
    if contact is not None and consent in contact.refused:
        return True
    known = {one for one in recipients or [contact.address(BOUND_TO[consent]) if contact else ""] if one}
    return bool(known) and is_withdrawn_at(project_id, consent, known)


def with_refusals(contact: Contact, consents: Iterable[Consent], *, project_id: UUID) -> Contact:
    """The contact, with the refusals of other customers who have the same number or address."""
    found = {one for one in consents if is_refused(one, project_id=project_id, contact=contact)}
    return replace(contact, refused=contact.refused | found)


def refusal_reason(consent: Consent) -> str:
    """The sentence for staff."""
    return REFUSED.format(what=CONSENT_WORDS[consent])


def refusal_told(consent: Consent) -> str:
    """The sentence for the agent."""
    return REFUSED_TOLD.format(what=CONSENT_WORDS[consent])
