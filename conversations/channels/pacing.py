"""Pacing: a provider's limit holds back all messages of the account, without a worker that waits.

After the pause, they go out one by one, at intervals, so that they don't meet the limit again.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import DateTimeField, ExpressionWrapper, F, Q, Value
from django.db.models.functions import Greatest

from conversations.models import ChannelLink, Chat
from tools.engine.execution.outcome import Ending, Outcome

# The limits of Telegram and Meta are 30 a second and more.
DISTANCE = timedelta(milliseconds=40)
# In an outcome: the limit is the chat's own, and holds back nothing else.
OF_CHAT = "is_of_chat"


def pause_account(chat: Chat, outcome: Outcome, *, now: datetime) -> None:
    """Hold back the account's parts for as long as the provider says."""
    pause = outcome.retry_after_seconds
    if outcome.ending is not Ending.NOT_SENT or pause is None or outcome.result.get(OF_CHAT):
        return
    until = now + timedelta(seconds=max(1.0, pause))
    link, is_new = ChannelLink.objects.get_or_create(
        project_id=chat.project_id, kind=chat.kind, defaults={"account": chat.account, "paused_until": until}
    )
    if not is_new:
        ChannelLink.objects.filter(pk=link.pk).update(paused_until=Greatest(F("paused_until"), Value(until)))


def next_turn(chat: Chat, *, now: datetime, has_turn: bool) -> datetime | None:
    """The time at which a part of the account is sent, its own; None if it may be sent now.

    A part that waited for its turn (`has_turn`) gets another one only if the account is paused again.
    """
    held_back = Q(paused_until__gt=now) if has_turn else Q(paused_until__gt=now) | Q(next_at__gt=now)
    links = ChannelLink.objects.filter(project_id=chat.project_id, kind=chat.kind)
    after = ExpressionWrapper(Greatest(F("next_at"), F("paused_until")) + Value(DISTANCE), output_field=DateTimeField())
    if not links.filter(held_back).update(next_at=after):
        return None
    return links.values_list("next_at", flat=True).get()
