"""How much one conversation may set off, and how much one recipient may get (threat 8)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from django.db.models import Q
from django.db.models.functions import Now

from tools.definition import Delivery
from tools.execution.handler import Contact
from tools.models import Effect, EffectState

DAY = timedelta(days=1)
# Of a kind that changes something: what goes to the customer, and what doesn't, such as a webhook.
MOST_IN_CONVERSATION: Mapping[str, int] = {"sms": 10, "email": 10}
MOST_OF_ANOTHER_KIND = 30
# Counted over all conversations of the project: whoever gives another's number can't flood it.
MOST_TO_RECIPIENT = 20
COUNTED = (EffectState.SENDING, EffectState.DONE, EffectState.UNKNOWN)


def recipient_of(kind: str, contact: Contact | None) -> str:
    """Where an effect of this kind goes to: the customer's number in digits, or their address."""
    if contact is None:
        return ""
    recipients: Mapping[str, str] = {
        "sms": "".join(character for character in contact.phone if character.isdigit()),
        "email": contact.email.strip().lower(),
    }
    return recipients.get(kind, "")


def cap_of(effect: Effect) -> str:
    """Why this effect is too much for a day, or "" when it isn't. Inside the transaction that begins it."""
    if effect.delivery != Delivery.ONCE and not effect.repeat_key:
        # It looks something up.
        return ""
    today = Effect.objects.filter(
        Q(delivery=Delivery.ONCE) | ~Q(repeat_key=""),
        project_id=effect.project_id,
        kind=effect.kind,
        state__in=COUNTED,
        started_at__gt=Now() - DAY,
    ).exclude(pk=effect.pk)
    most = MOST_IN_CONVERSATION.get(effect.kind, MOST_OF_ANOTHER_KIND)
    if effect.conversation_id is not None and today.filter(conversation_id=effect.conversation_id).count() >= most:
        return f"This conversation has set off {most} of this kind within a day; that is the limit."
    if effect.recipient and today.filter(recipient=effect.recipient).count() >= MOST_TO_RECIPIENT:
        return f"{MOST_TO_RECIPIENT} of this kind went to this recipient within a day; that is the limit."
    return ""
