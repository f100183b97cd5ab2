"""Calls that begin in a browser: stored with their keeper's job, before anything is asked of the provider."""

from __future__ import annotations

from typing import Annotated, TypedDict

from django.db import models
from django.db.models.functions import Now

from conversations.calls.account import TYPED, offline_account
from conversations.calls.arrival import store_call
from conversations.common.merged import lock_customer
from conversations.live.event_log import open_log
from conversations.models import OPEN_STATES, Call, CallState, Channel, Conversation, ConversationStatus
from conversations.turns.channel_signals import apply_signal
from projects.common.api_error import Conflict, Unprocessable
from projects.common.presenters import Id
from projects.connections.integrations import find_source
from projects.connections.openai_sip import KIND
from projects.models import Project
from projects.widget.widgets import find_widget, theme_of
from tenancy.ids import uuid7
from tools.engine.execution.outcome import Signal

PROVIDER = "openai"
# Stands for the provider's id until the provider has given one.
UNKNOWN_ID = "web:"
LONGEST_OFFER = 12_000
MEDIA = "\nm="
CONNECTED, TYPED_WORDS = "call_connected", "call_typed"


class BrowserEvent(models.TextChoices):
    """An event of the browser's side of a call. The label is the reason that staff reads."""

    CONNECTED = "connected", ""
    HUNG_UP = "hung_up", ""
    LEFT = "left", "The page was closed."
    NO_MEDIA = "no_media", "The browser's network blocked the audio."
    LOST = "lost", "The browser's connection was lost."


class CallsOff(Conflict):
    """This agent takes no calls from browsers."""

    def __init__(self) -> None:
        super().__init__(code="calls_off")


class CallOver(Conflict):
    """This call is over."""

    def __init__(self) -> None:
        super().__init__(code="call_over")


class AlreadyCalling(Conflict):
    """This customer is already in a call, perhaps in another tab."""

    def __init__(self) -> None:
        super().__init__(code="call_active")


class BrowserCallPayload(TypedDict):
    """A call as its browser sees it. `answer` is the provider's SDP; empty until it has answered. `number` is where a
    transferred call goes on.
    """

    id: Id
    conversation: Id
    state: Annotated[str, CallState]
    answer: str
    number: str


def browser_payload(call: Call) -> BrowserCallPayload:
    return {
        "id": str(call.pk),
        "conversation": str(call.conversation_id),
        "state": call.state,
        "answer": call.answer if call.state in OPEN_STATES else "",
        "number": call.transferred_to,
    }


def can_call(project: Project) -> bool:
    """True if the project is connected to a provider."""
    return find_source(project.pk, KIND) is not None


def offers_calls(project: Project) -> bool:
    """True if customers may call from their browser: the widget's setting allows it, and a provider is connected."""
    return theme_of(find_widget(project.pk)).call_button == "on" and can_call(project)


def checked_offer(offer: str) -> str:
    """An SDP offer with one audio stream. Raises Unprocessable.

    A data channel would let the browser give the model instructions of its own.
    """
    lines = f"\n{offer}".replace("\r", "")
    if (
        len(offer) > LONGEST_OFFER
        or not offer.startswith("v=0")
        or lines.count(MEDIA) != 1
        or "\nm=audio " not in lines
    ):
        raise Unprocessable(
            "invalid", "offer: Send an SDP offer with one audio stream and nothing else.", field="offer"
        )
    return f"{offer.rstrip()}\r\n"


def start_web_call(conversation: Conversation, *, offer: str) -> Call:
    """Store the call of a new conversation, with its keeper's job. Raises AlreadyCalling, Unprocessable."""
    offer = checked_offer(offer)
    # One call of a customer at a time, whichever tab comes first.
    lock_customer(conversation.persona_id)
    others = Call.objects.filter(
        conversation__persona_id=conversation.persona_id, conversation__channel=Channel.WEBCALL, state__in=OPEN_STATES
    )
    if others.exists():
        raise AlreadyCalling
    call = Call(id=uuid7(), project_id=conversation.project_id, conversation=conversation, provider=PROVIDER)
    call.external_id, call.offer = f"{UNKNOWN_ID}{call.pk}", offer
    return store_call(call)


def start_typed_call(conversation: Conversation) -> Call:
    """Store the call of a caller who types, at the offline provider. Raises CallsOff."""
    if offline_account() is None:
        raise CallsOff
    call = Call(id=uuid7(), project_id=conversation.project_id, conversation=conversation, provider=PROVIDER)
    call.external_id = f"{TYPED}{call.pk}"
    return store_call(call)


def type_words(call: Call, text: str) -> Call:
    """Store what the caller types; the keeper says it to the model. Raises CallOver."""
    with open_log(call.conversation_id) as log:
        call.refresh_from_db()
        if call.state not in OPEN_STATES or log.conversation.status != ConversationStatus.OPEN:
            raise CallOver
        log.add_event(TYPED_WORDS, payload={"call": str(call.pk), "text": text})
    return call


def note_event(call: Call, event: BrowserEvent) -> Call:
    """Store what the browser reports. A repeated report, and one of a call that is over, change nothing."""
    with open_log(call.conversation_id) as log:
        call.refresh_from_db()
        if call.state not in OPEN_STATES or log.conversation.status != ConversationStatus.OPEN:
            return call
        if event == BrowserEvent.CONNECTED:
            if call.connected_at is None:
                Call.objects.filter(pk=call.pk).update(connected_at=Now())
                log.add_event(CONNECTED, payload={"call": str(call.pk)})
            return call
        Call.objects.filter(pk=call.pk).update(reason=event.label)
        apply_signal(log, Signal.END, turn_id=None, result={"reason": event.label or "The customer hung up."})
    return call
