"""How much one conversation may set off, and how much one recipient may get (threat 8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id
from tools.engine.definition import RetryPolicy
from tools.engine.execution.handler import Contact
from tools.models import Effect

# Of a kind that changes something: what goes to the customer, and what doesn't, such as a webhook.
MOST_IN_CONVERSATION: Mapping[str, int] = {"sms": 10, "email": 10}
MOST_OF_ANOTHER_KIND = 30
# Counted over all conversations of the project: whoever gives another's number can't flood it.
MOST_TO_RECIPIENT = 20

_COUNTED = """
select count(*) from tools_effect
where organization_id = %s and project_id = %s and kind = %s and id <> %s
  and (delivery = 'once' or repeat_key <> '') and state in ('sending', 'done', 'unknown')
  and started_at > statement_timestamp() - interval '1 day'
"""
_TODAY = Prepared(f"select ({_COUNTED} and conversation_id = %s), ({_COUNTED} and recipient <> '' and recipient = %s)")


# Whoever writes to one recipient, from whichever conversation, does it one after the other: else the last place would be taken by
# all who look at once. Held to the end of the transaction that begins the effect.
_ONE_AT_A_TIME = Prepared("select 1 from pg_advisory_xact_lock(hashtextextended(%s, 0))")

# What is read by somebody: a tool of such a kind that names no addressee writes to the customer.
LETTERS = ("email", "sms")


def recipient_of(kind: str, contact: Contact | None) -> str:
    """Where an effect of this kind goes to: the customer's number in digits, or their address."""
    if contact is None:
        return ""
    recipients: Mapping[str, str] = {
        "sms": "".join(character for character in contact.phone if character.isdigit()),
        "email": contact.email.strip().lower(),
    }
    return recipients.get(kind, "")


def wait_in_order(effects: Iterable[Effect]) -> None:
    """Wait for one's turn at every recipient of several effects that one transaction begins, in the order that is everybody's:
    who writes and texts to a customer while another conversation texts and writes to them would else wait for it, and it for them.
    """
    turns = {_turn_of(effect) for effect in effects if effect.recipient}
    if len(turns) > 1:
        for turn in sorted(turns):
            _ONE_AT_A_TIME(turn)


def _turn_of(effect: Effect) -> str:
    return f"caps:{effect.project_id}:{effect.kind}:{effect.recipient}"


def cap_of(effect: Effect) -> str:
    """Why this effect is too much for a day, or "" when it isn't. Inside the transaction that begins it."""
    if effect.delivery != RetryPolicy.ONCE and not effect.repeat_key:
        # It looks something up.
        return ""
    if effect.recipient:
        # By a statement of its own: the count sees what was committed before the lock was given.
        _ONE_AT_A_TIME(_turn_of(effect))
    most = MOST_IN_CONVERSATION.get(effect.kind, MOST_OF_ANOTHER_KIND)
    in_conversation, to_recipient = _counted_today(effect)
    if in_conversation >= most:
        return f"This conversation has set off {most} of this kind within a day; that is the limit."
    if to_recipient >= MOST_TO_RECIPIENT:
        return f"{MOST_TO_RECIPIENT} of this kind went to this recipient within a day; that is the limit."
    return ""


def _counted_today(effect: Effect) -> tuple[int, int]:
    """How many others of its kind began within a day: in its conversation, and to its recipient. None of nobody's."""
    mine = (current_organization_id(), effect.project_id, effect.kind, effect.pk)
    [(in_conversation, to_recipient)] = _TODAY(*mine, effect.conversation_id, *mine, effect.recipient or None)
    return in_conversation, to_recipient
