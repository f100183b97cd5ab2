"""Errors of effects for people. The stored sentence is the one that the model reads, and may instruct it."""

from __future__ import annotations

from collections.abc import Mapping

from projects.common.stored_sentences import translated
from projects.common.translation import lazy
from tools.engine.execution import event_delivery, limits, outcome_policy
from tools.engine.function_calling import attempt, parse_call
from tools.services.caller_lookup import lookup as callers
from tools.services.messaging import channels, mail, sms
from tools.services.orders import lookup as orders
from tools.services.verification import matching, sending
from tools.services.verification.services import VERIFY_FIRST

WORDS: Mapping[str, str] = {
    mail.NO_ADDRESS: lazy("Not sent: the customer has no e-mail address."),
    sms.NO_PHONE: lazy("Not sent: the customer has no phone number."),
    channels.RECONNECT_FIRST: lazy("Not sent: the messaging service must be reconnected."),
    callers.NOT_CONNECTED: lazy("Caller lookup isn’t connected."),
    callers.NOBODY: lazy("Your system knows nobody with this number."),
    callers.NO_ANSWER: lazy("Your system didn’t respond."),
    orders.SIGN_IN: lazy("The customer isn’t signed in to the shop."),
    orders.NOT_CONNECTED: lazy("No shop is connected."),
    orders.NO_ANSWER: lazy("The shop didn’t respond."),
    limits.TOLD: lazy("Not done: a limit is reached."),
    outcome_policy.WORKER_DIED: lazy("The worker stopped. We don’t know whether it was done."),
    attempt.TOOL_CRASHED: lazy("An internal error stopped the tool. We don’t know whether it was done."),
    parse_call.NO_OBJECT: lazy("The model’s arguments weren’t valid JSON."),
    event_delivery.NOBODY: lazy("Nobody is subscribed to this event."),
    event_delivery.UNREADABLE: lazy("The subscriber’s secret can’t be read. Create a new one."),
    VERIFY_FIRST: lazy("The customer isn’t verified yet."),
    sending.TOO_MANY: lazy("Too many codes in ten minutes."),
    sending.TOO_MANY_TODAY: lazy("Too many codes today."),
    matching.TOO_OFTEN: lazy("The customer couldn’t be verified after several attempts."),
}


def error_for_people(error: str) -> str:
    """The error in the reader's language if it is known, otherwise as it is stored."""
    if error in WORDS:
        return str(WORDS[error])
    return translated(error)
