"""Five sentences about the ledger, checked against the database, the target's log and the world's own journal."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.utils import timezone

from console.promises.metrics import PromiseCounts, promise_metrics
from conversations.analytics.period import last_days
from conversations.models import Message, TurnCall
from jobs.models import LIVE, Job
from tests.laws.journal import SMS, Journal, Request
from tests.laws.world import World
from todos.models import Todo, TodoCall
from tools.models import Effect, Promise

ENDED = ("done", "failed", "unknown", "held", "cancelled")
CLOSED = ("kept", "broken", "withdrawn")


@dataclass(frozen=True)
class Ledger:
    """The rows of the world's business."""

    effects: dict[UUID, Effect]
    promises: list[Promise]
    replies: dict[UUID, str]
    turn_calls: dict[UUID, str]
    todo_calls: set[UUID]
    todos: list[Todo]
    working: set[UUID]
    figures: PromiseCounts


def read_ledger(world: World) -> Ledger:
    with world.tenant.tx():
        now = timezone.now()
        metrics = promise_metrics(world.tenant.project, period=last_days(now, days=180, timezone="Europe/Rome"))
        calls = TurnCall.objects.exclude(effect=None).values_list("effect_id", "name")
        replies = Message.objects.filter(role="agent").exclude(turn=None).values_list("turn_id", "content")
        done_by = TodoCall.objects.exclude(effect=None).values_list("effect_id", flat=True)
        return Ledger(
            effects={effect.pk: effect for effect in Effect.objects.all()},
            promises=list(Promise.objects.all()),
            replies=dict(replies),
            turn_calls=dict(calls),
            todo_calls=set(done_by),
            todos=list(Todo.objects.all()),
            working=set(Job.objects.filter(state__in=LIVE).values_list("subject_id", flat=True)),
            figures=metrics.now,
        )


def findings(world: World, *, is_over: bool = False) -> list[str]:
    """One line per violation. `is_over` says that time has passed until nothing was left to do."""
    ledger, journal = read_ledger(world), world.journal
    return [
        *(f"words: {what}" for what in without_words(ledger, journal)),
        *(f"rules: {what}" for what in against_rules(ledger, journal)),
        *(f"evidence: {what}" for what in without_evidence(ledger, journal)),
        *(f"end: {what}" for what in without_end(ledger, is_over=is_over)),
        *(f"count: {what}" for what in counted_wrongly(ledger)),
    ]


# No effect without words in the reply or a call of the model


def without_words(ledger: Ledger, journal: Journal) -> Iterator[str]:
    known = {effect.effect_key: effect.tool for effect in ledger.effects.values()}
    for request in journal.requests:
        if known.get(request.key) != request.tool:
            yield f"a request for {request.tool} belongs to no effect of it"
    for effect in ledger.effects.values():
        if not _has_cause(effect, ledger, journal):
            yield f"{effect.tool} of the moment {effect.origin} has no cause (“{effect.quote}”)"
    for promise in ledger.promises:
        if not _is_said(promise.quote, ledger.replies.get(promise.turn_id, "")):
            yield f"the promise “{promise.quote}” was never made"


def _has_cause(effect: Effect, ledger: Ledger, journal: Journal) -> bool:
    match effect.origin:
        case "commitment":
            assert effect.turn_id is not None
            reply = ledger.replies.get(effect.turn_id, "")
            return _is_said(effect.quote, reply) and effect.tool in journal.promised[effect.turn_id]
        case "turn":
            assert effect.turn_id is not None
            is_called = ledger.turn_calls.get(effect.pk) == effect.tool
            return is_called and effect.tool in journal.called[effect.turn_id]
        case "live":
            return effect.tool in journal.live
        case "todo":
            return effect.pk in ledger.todo_calls and effect.tool in journal.planned_by_hand
    return False


def _is_said(quote: str, reply: str) -> bool:
    return bool(_words(quote)) and f" {_words(quote)} " in f" {_words(reply)} "


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


# No effect against a gate, an approval or a consent


def against_rules(ledger: Ledger, journal: Journal) -> Iterator[str]:
    for began in journal.began:
        if began.broken:
            yield f"{began.tool} was started against {' and '.join(began.broken)}"
    if journal.texts_refused:
        yield f"{journal.texts_refused} texts left although the customer doesn't want any"
    sent = Counter(request.key for request in journal.requests)
    for effect in ledger.effects.values():
        most = 1 + journal.sent_again[effect.pk] if effect.delivery == "once" else effect.attempts
        if sent[effect.effect_key] > most:
            yield f"{effect.tool} was sent {sent[effect.effect_key]} times"
    attempts = sum(effect.attempts for effect in ledger.effects.values() if effect.kind == SMS)
    if journal.texts > attempts:
        yield f"{journal.texts} texts left in {attempts} attempts"


# Kept implies evidence


def without_evidence(ledger: Ledger, journal: Journal) -> Iterator[str]:
    requests: dict[str, list[Request]] = {}
    for request in journal.requests:
        requests.setdefault(request.key, []).append(request)
    sent = [one for one in ledger.effects.values() if _is_sent_text(one) and not _has_word(one, ledger, journal)]
    if len(sent) > journal.texts:
        yield f"{len(sent)} texts are called sent, and {journal.texts} left"
    for effect in ledger.effects.values():
        mine = requests.get(effect.effect_key, [])
        if effect.state == "done" and not _has_happened(effect, ledger, journal, mine):
            yield f"{effect.tool} is called done, and nothing shows it"
        is_reported = effect.accepted_at is not None
        if effect.state == "failed" and not is_reported and any(request.has_acted for request in mine):
            yield f"{effect.tool} is called failed, and the target may have done it"
    for promise in ledger.promises:
        if promise.state == "kept" and not _is_evident(promise, ledger, journal):
            yield f"“{promise.quote}” counts as kept by {promise.evidence or 'nothing'}"


def _has_happened(effect: Effect, ledger: Ledger, journal: Journal, requests: list[Request]) -> bool:
    is_own = effect.tool_origin != "custom"
    is_reported = effect.pk in journal.called_back or any(request.is_clear for request in requests)
    return is_own or is_reported or _has_word(effect, ledger, journal)


def _has_word(effect: Effect, ledger: Ledger, journal: Journal) -> bool:
    """True if a person says that the effect happened."""
    return effect.pk in journal.confirmed or _is_done_by_hand(ledger, journal, effect_id=effect.pk)


def _is_sent_text(effect: Effect | None) -> bool:
    return effect is not None and effect.kind == SMS and effect.state == "done" and effect.adapter != "outbox"


def _is_evident(promise: Promise, ledger: Ledger, journal: Journal) -> bool:
    effect = ledger.effects.get(promise.effect_id) if promise.effect_id else None
    if promise.evidence == "effect":
        is_told = effect is not None and effect.definition["action"]["type"] != "send_event"
        return effect is not None and effect.state == "done" and (is_told or _is_sent_text(effect))
    if promise.evidence == "delivered":
        return effect is not None and effect.state == "done" and effect.receipt in ("delivered", "read")
    if promise.evidence == "acknowledged":
        return effect is not None and effect.state == "done" and effect.definition["action"]["type"] == "send_event"
    if promise.evidence == "person":
        if promise.pk in journal.marked_kept or promise.effect_id in journal.confirmed:
            return True
        return _is_done_by_hand(ledger, journal, effect_id=promise.effect_id, quote=promise.quote)
    return False


def _is_done_by_hand(ledger: Ledger, journal: Journal, *, effect_id: UUID | None, quote: str = "") -> bool:
    done = [todo for todo in ledger.todos if todo.pk in journal.by_hand]
    return any((effect_id and todo.effect_id == effect_id) or (quote and todo.quote == quote) for todo in done)


# Every promise ends kept, broken or withdrawn, or stands open with a time and an owner


def without_end(ledger: Ledger, *, is_over: bool) -> Iterator[str]:
    for promise in ledger.promises:
        said = f"“{promise.quote}” ({promise.state})"
        if promise.state in CLOSED:
            if promise.closed_at is None or promise.owner:
                yield f"{said} is closed, and has the owner {promise.owner} and the end {promise.closed_at}"
        elif is_over:
            yield f"{said} never ended"
        elif promise.due_at is None or promise.owner not in ("tool", "staff"):
            yield f"{said} has no time or no owner"
        elif promise.owner == "tool" and not _is_under_way(promise, ledger):
            yield f"{said} is left to a tool that nobody runs"
    if is_over:
        for effect in ledger.effects.values():
            if effect.state not in ENDED:
                yield f"{effect.tool} never ended; it is {effect.state}"


def _is_under_way(promise: Promise, ledger: Ledger) -> bool:
    """True if a job runs the promise's effect. A reply's own call is ended by the sweep."""
    effect = ledger.effects[promise.effect_id] if promise.effect_id else None
    if effect is None or effect.state not in ("planned", "sending"):
        return False
    todos = {todo.pk for todo in ledger.todos if todo.effect_id == effect.pk}
    return effect.origin == "turn" or bool(ledger.working & {effect.pk, *todos})


# No promise is counted twice


def counted_wrongly(ledger: Ledger) -> Iterator[str]:
    made = Counter((promise.turn_id, promise.tool, _words(promise.quote)) for promise in ledger.promises)
    yield from (f"“{quote}” is {times} promises of one reply" for (_, _, quote), times in made.items() if times > 1)
    served: dict[Any, set[str]] = {}
    for promise in ledger.promises:
        if promise.tool:
            served.setdefault(promise.turn_id, set()).add(_words(promise.quote))
    for promise in ledger.promises:
        if not promise.tool and _words(promise.quote) in served.get(promise.turn_id, ()):
            yield f"“{promise.quote}” is a promise of a tool and one that no tool serves"
    figures, expected = ledger.figures, _figures(ledger)
    told = {
        "kept": figures.kept + figures.late,
        "broken": figures.broken,
        "withdrawn": figures.withdrawn,
        "open": figures.open,
        "not sent": figures.not_sent,
    }
    if told != expected or figures.made != sum(expected.values()):
        yield f"the figures say {told} of {figures.made}, and the ledger says {expected}"
    over = expected["kept"] + expected["broken"]
    if figures.kept_rate != (100 * expected["kept"] / over if over else None):
        yield f"the share of kept promises is {figures.kept_rate}"


def _figures(ledger: Ledger) -> dict[str, int]:
    """Each promise under one word. A repeated promise shares the effect of the first, and counts once."""
    kept_apart = {
        (promise.effect_id or promise.pk, "not sent" if promise.evidence == "outbox" else promise.state)
        for promise in ledger.promises
    }
    words = Counter(word for _, word in kept_apart)
    return {word: words[word] for word in ("kept", "broken", "withdrawn", "open", "not sent")}
