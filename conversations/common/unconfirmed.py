"""New phone numbers and e-mail addresses that the customer has yet to confirm.

Messages go to these contacts, so a new value doesn't replace the present one at once. It is kept as a field of its own,
and the agent asks back.
"""

from __future__ import annotations

CONTACTS = ("phone", "email")
PREFIX = "unconfirmed_"
LABEL = "new {field}, not confirmed, ask whether it is right and use the old one until then"


def unconfirmed_key(field: str) -> str:
    return PREFIX + field


def label_of(key: str) -> str:
    """The field's name in prompts."""
    return LABEL.format(field=key.removeprefix(PREFIX)) if key.startswith(PREFIX) else key
