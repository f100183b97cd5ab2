"""Labels for effects: titles, states and requests."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlsplit

from django.utils.translation import gettext

from console.timestamps import short_day, short_weekday
from projects.common.translation import lazy
from tools.engine.ledger import needs_approval
from tools.engine.tool_words import TOOL_WORDS
from tools.models import AfterActionState, Effect, EffectState, ReceiptState


@dataclass(frozen=True)
class StateLabel:
    """A state for display, with an explanation if it needs one."""

    tone: str
    icon: str
    word: str
    meaning: str = ""


STATE_LABELS: Mapping[str, StateLabel] = {
    EffectState.PLANNED: StateLabel("act", "calendar-time", lazy("Planned")),
    EffectState.SENDING: StateLabel("act", "loader-2", lazy("Sending")),
    EffectState.DONE: StateLabel("ok", "circle-check", lazy("Done")),
    EffectState.FAILED: StateLabel(
        "bad", "alert-triangle", lazy("Failed"), lazy("It didn’t happen. The customer wasn’t told that it did.")
    ),
    EffectState.UNKNOWN: StateLabel(
        "warn",
        "help-circle",
        lazy("Unknown"),
        lazy("It was sent, and its outcome is unknown. It isn’t repeated until you confirm what happened."),
    ),
    EffectState.HELD: StateLabel(
        "warn",
        "hand-stop",
        lazy("Held back"),
        lazy("The same was already done for this customer. Release it to run it again."),
    ),
    EffectState.CANCELLED: StateLabel(
        "mute", "circle-minus", lazy("Canceled"), lazy("It was canceled before it started.")
    ),
}
IN_OUTBOX = StateLabel(
    "warn",
    "inbox",
    lazy("Not sent"),
    lazy("No service is connected, so this stayed in the outbox."),
)
WAITING_FOR_DELIVERY = lazy("waiting for delivery")
AWAITS_RECEIPT = StateLabel(
    "act",
    "clock",
    lazy("Sent"),
    lazy("The provider has taken the message. Its promise is kept once it was delivered."),
)
NOT_DELIVERED = StateLabel("bad", "alert-triangle", lazy("Failed"), lazy("It was sent, but it did not arrive."))
RECEIPTS: Mapping[str, StateLabel] = {
    ReceiptState.SENT: StateLabel("ok", "check", lazy("Sent")),
    ReceiptState.DELIVERED: StateLabel("ok", "check", lazy("Delivered")),
    ReceiptState.READ: StateLabel("ok", "check", lazy("Read")),
    ReceiptState.FAILED: StateLabel("bad", "alert-triangle", lazy("Not delivered")),
    ReceiptState.UNKNOWN: StateLabel("warn", "help-circle", lazy("Unknown whether it arrived")),
}
AWAITS_APPROVAL = StateLabel("warn", "hand-stop", lazy("Needs approval"), lazy("It runs once its todo is approved."))
AFTER = {
    AfterActionState.PLANNED: StateLabel("act", "calendar-time", lazy("Planned")),
    AfterActionState.DONE: StateLabel("ok", "circle-check", lazy("Done")),
    AfterActionState.FAILED: StateLabel("bad", "alert-triangle", lazy("Failed")),
    AfterActionState.SKIPPED: StateLabel("mute", "circle-minus", lazy("Skipped")),
}
AFTER_ACTION_TITLES = {
    "send_urgent_message": lazy("Tell the agent"),
    "set_persona_attribute": lazy("Set a customer field"),
    "set_prompt_section": lazy("Set a prompt section"),
}
KINDS = {
    "sms": lazy("Text message"),
    "email": lazy("E-mail"),
    "availability": lazy("Look up free times"),
    "booking": lazy("Booking"),
    "booking_search": lazy("Find a booking"),
    "booking_cancel": lazy("Cancellation"),
    "meeting": lazy("Meeting"),
    "calendar_event": lazy("Calendar event"),
    "channel_message": lazy("Message to a messenger"),
    "transfer": lazy("Transfer to a person"),
    "webhook": lazy("Webhook"),
    "urgent_message": lazy("Message to the agent"),
    "order_lookup": lazy("Look up orders"),
    "caller_lookup": lazy("Look up the caller"),
    "caller_verification": lazy("Verify the customer"),
    "verification_code": lazy("One-time code"),
    "event": lazy("Event"),
    "end": lazy("End of the conversation"),
}

# Kinds of which each tool of a business does something else.
OWN_KINDS = frozenset({"webhook", "event"})


def state_label(effect: Effect) -> StateLabel:
    if effect.state == EffectState.PLANNED and effect.arranged_at is not None and needs_approval(effect):
        return AWAITS_APPROVAL
    if effect.awaits_receipt:
        return AWAITS_RECEIPT
    if effect.state == EffectState.FAILED and effect.receipt == ReceiptState.FAILED:
        return NOT_DELIVERED
    return IN_OUTBOX if effect.is_in_outbox else STATE_LABELS[effect.state]


def title_of(effect: Effect) -> str:
    """A short title: the kind of effect, or the name of a business's own tool, with its recipient, host and arguments."""
    words = TOOL_WORDS.get(effect.tool)
    own = str(words.title) if words else effect.tool.removesuffix("_tool").replace("_", " ").capitalize()
    kind = own if effect.kind in OWN_KINDS else KINDS.get(effect.kind) or own
    request: Mapping[str, Any] = effect.request or {}
    if recipient := request.get("to") or (request.get("form") or {}).get("To"):
        return gettext("%(kind)s to %(recipient)s") % {"kind": kind, "recipient": recipient}
    if url := request.get("url"):
        kind = gettext("%(tool)s, at %(host)s") % {"tool": own, "host": urlsplit(str(url)).netloc}
    details = [_detail(value) for value in _plain_values(effect.arguments)]
    return f"{kind}: {', '.join(map(str, details[:3]))}"[:120] if details else kind


def _plain_values(arguments: Mapping[str, Any]) -> Iterator[str | int]:
    """The values that can be shown, those of a webhook's body and query included."""
    for name, value in arguments.items():
        if isinstance(value, Mapping) and name != "headers":
            yield from _plain_values(value)
        elif isinstance(value, str | int) and value != "":
            yield value


def _detail(value: str | int) -> str:
    """A date in readable form, anything else unchanged."""
    try:
        day = date.fromisoformat(str(value)) if len(str(value)) == len("2026-11-25") else None
    except ValueError:
        day = None
    return f"{short_weekday(day)} {short_day(day)}" if day else str(value)


def request_lines(request: Mapping[str, Any] | None) -> str:
    """The request as text: HTTP as it goes over the wire, anything else as fields."""
    if not request:
        return ""
    if "url" not in request:
        return "\n".join(
            f"{name.capitalize()}: {_text(value)}" for name, value in request.items() if value not in ("", None)
        )
    head = f"{request.get('method', 'POST')} {request['url']}"
    headers = [f"{name}: {value}" for name, value in (request.get("headers") or {}).items()]
    body = next((request[name] for name in ("body", "json", "form") if request.get(name)), None)
    return "\n".join([head, *headers, *(["", _text(body)] if body is not None else [])])


def pretty(value: Any) -> str:
    """Indented JSON, or an empty string for an empty value."""
    return json.dumps(value, ensure_ascii=False, indent=2) if value else ""


def shortened(text: str, *, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest].rsplit(' ', 1)[0]} …"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else pretty(value)
