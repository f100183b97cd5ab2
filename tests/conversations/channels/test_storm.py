"""Storms over a messenger: repeated and reordered deliveries while processes are killed, and a provider's limit.

`STORM_DELIVERIES=10000` gives the first one its full size.
"""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Signal
from typing import Any

import pytest

from conversations.live.event_log import open_log
from conversations.models import Chat, Delivery, Message, MessageRole, Receipt, Turn, TurnStatus
from jobs.models import LIVE, Job, State
from tests.conversations.channels.conftest import Bot
from tests.conversations.channels.test_crashes import post
from tests.conversations.conftest import begin
from tests.processes import Child, ForkServer, ScriptedModel, free_port, until

pytestmark = pytest.mark.slow

DELIVERIES = int(os.environ.get("STORM_DELIVERIES", "2000"))
OUTGOING = int(os.environ.get("STORM_OUTGOING", "1000"))
CHATS, TIMES, SENDERS, PER_SECOND = 200, 3, 8, 30
# Seconds between two kills: long enough for a worker to start and to be busy.
PAUSE_SECONDS = (2.0, 5.0)
A_DAY_AGO = 100_000
ANSWERS: dict[str, dict[str, Any]] = {
    "reply": {"text": "Yes, at eight."},
    "observer": {"json": {"facts": [], "quality": None}},
    "detect": {"json": {"verdicts": []}},
}


def answer_always(model: ScriptedModel) -> None:
    model.script_all(*({"skill": skill, "times": 0, **answer} for skill, answer in ANSWERS.items()))


class Processes:
    """Two web processes and a worker for each queue, of which one after the other is killed and started again."""

    def __init__(self, server: ForkServer) -> None:
        self._server = server
        self.kills: Counter[str] = Counter()
        self.bases = {port: f"http://127.0.0.1:{port}" for port in (free_port(), free_port())}
        self._children: dict[int | str, Child] = {}
        for name in (*self.bases, "replies", "work"):
            self.start(name)

    def start(self, name: int | str) -> None:
        if isinstance(name, int):
            self._children[name], _ = self._server.web(port=name)
        else:
            self._children[name] = self._server.worker(queues=name)

    def strike(self, dice: random.Random) -> None:
        name = dice.choice(list(self._children))
        self._children[name].kill()
        self.kills["web" if isinstance(name, int) else name] += 1
        self.start(name)


@pytest.mark.short_leases
@pytest.mark.requirement("T01")
def test_deliveries_in_a_storm_are_stored_once_and_answered_once(
    bot: Bot, processes: ForkServer, model: ScriptedModel, capsys: Any
) -> None:
    answer_always(model)
    dice, running, began = random.Random(24), Processes(processes), time.monotonic()
    updates = [message(bot, number) for number in range(DELIVERIES)]
    deliveries = [*updates] * TIMES
    dice.shuffle(deliveries)
    is_over = Signal()

    def deliver(update: dict[str, Any]) -> int:
        """Deliver until it is answered with 200, as Telegram does. Returns the number of tries."""
        tries = 1
        while post(dice.choice(list(running.bases.values())), bot, update) != 200:
            assert not is_over.is_set()
            tries += 1
            time.sleep(0.2)
        return tries

    with ThreadPoolExecutor(SENDERS) as pool:
        sent = [pool.submit(deliver, update) for update in deliveries]
        try:
            while not all(one.done() for one in sent):
                time.sleep(dice.uniform(*PAUSE_SECONDS))
                running.strike(dice)
            delivered_in = time.monotonic() - began
        finally:
            is_over.set()
    until_idle(bot)
    with capsys.disabled():
        tries = sum(one.result() for one in sent)
        print(f"\n{tries} requests in {delivered_in:.0f} s, idle after {time.monotonic() - began:.0f} s")
        print(f"  killed {dict(running.kills)}; {figures(bot)}")
    assert_stored_once(bot)
    assert_answered_once(bot)
    assert_sent_once(bot)


def message(bot: Bot, number: int, **changes: Any) -> dict[str, Any]:
    chat = 1 + number % CHATS
    user = {"id": chat, "is_bot": False, "first_name": f"Guest {chat}"}
    return bot.update(f"Is there a table on day {number}?", chat=chat, user=user, **changes)


def until_idle(bot: Bot) -> None:
    """Wait until no job is due."""

    def is_idle() -> bool:
        time.sleep(0.5)
        with bot.tenant.tx():
            return not Job.objects.filter(state__in=LIVE).exists()

    until(is_idle, seconds=1_200, what=lambda: f"the end of all work; {figures(bot)}")


def figures(bot: Bot) -> dict[str, Any]:
    with bot.tenant.tx():
        rows = {
            "turns": Turn.objects.values_list("status", flat=True),
            "receipts": Receipt.objects.values_list("state", flat=True),
            "jobs": Job.objects.filter(state__in=[*LIVE, State.FAILED]).values_list("lane", flat=True),
        }
        return {name: dict(Counter(found)) for name, found in rows.items()}


def assert_stored_once(bot: Bot) -> None:
    """No message lost, none twice."""
    with bot.tenant.tx():
        texts = Counter(Message.objects.filter(role=MessageRole.USER).values_list("content", flat=True))
        assert Delivery.objects.filter(message__isnull=False).count() == DELIVERIES
        assert Chat.objects.count() == min(CHATS, DELIVERIES)
    assert [text for text, count in texts.items() if count > 1] == []
    assert len(texts) == DELIVERIES


def assert_answered_once(bot: Bot) -> None:
    """Each message has one turn, and each turn one reply, or a newer turn that answers both."""
    with bot.tenant.tx():
        turns = list(Turn.objects.values_list("pk", "status", "reply_id"))
        replies = Counter(Message.objects.exclude(role=MessageRole.USER).values_list("turn_id", flat=True))
        last = Turn.objects.order_by("conversation", "-seq").distinct("conversation").values_list("status", flat=True)
        assert set(last) <= {TurnStatus.DONE, TurnStatus.FAILED}
    assert len(turns) == DELIVERIES
    expected = {pk: 0 if status == TurnStatus.SUPERSEDED else 1 for pk, status, _ in turns}
    assert {pk: count for pk, count in expected.items() if replies[pk] != count} == {}


def assert_sent_once(bot: Bot) -> None:
    """Every reply went out once. One whose worker died is unknown: it went out at most once, and staff is asked."""
    went_out = Counter(str(one["chat_id"]) for one in bot.telegram.delivered)
    sent: Counter[str] = Counter()
    unknown: Counter[str] = Counter()
    for effect in bot.effects():
        assert effect.state in ("done", "unknown"), (effect.state, effect.error)
        (sent if effect.state == "done" else unknown)[effect.arguments["to"]] += 1
    wrong = {
        chat: (count, sent[chat], unknown[chat])
        for chat, count in went_out.items()
        if not sent[chat] <= count <= sent[chat] + unknown[chat]
    }
    assert (wrong, set(sent) - set(went_out)) == ({}, set())


@pytest.mark.requirement("T01")
def test_a_limit_of_the_provider_loses_and_repeats_nothing_and_blocks_nobody(
    bot: Bot, processes: ForkServer, model: ScriptedModel, capsys: Any
) -> None:
    answer_always(model)
    chats = [bot.deliver(message(bot, number, date=int(time.time()) - A_DAY_AGO)) for number in range(CHATS)]
    assert {answer.status_code for answer in chats} == {200}
    bot.telegram.per_second = PER_SECOND
    texts = plan_outgoing(bot)
    processes.worker(queues="replies")
    processes.worker(queues="work")
    began = time.monotonic()
    until(lambda: len(bot.telegram.delivered) > PER_SECOND, what="the first messages")
    talk = begin(bot.tenant, external_id="somebody else")
    turn = talk.say("Are dogs allowed?")
    talk.until_turn(turn, lambda found: found["reply"] and all(job["state"] == "done" for job in found["jobs"]))
    waiting = OUTGOING - len(bot.telegram.delivered)
    until_idle(bot)
    with capsys.disabled():
        calls, seconds = len(bot.telegram.of("sendMessage")), time.monotonic() - began
        print(f"\n{OUTGOING} messages in {seconds:.0f} s by {calls} requests; {waiting} waited at another's answer")
    assert waiting > 0
    assert Counter(one["text"] for one in bot.telegram.delivered) == Counter(texts)
    assert {state for state, _ in bot.receipts()} == {"sent"}


def plan_outgoing(bot: Bot) -> list[str]:
    """Messages of staff, in all chats by turns."""
    texts = [f"Message {number}" for number in range(OUTGOING)]
    with bot.tenant.tx():
        conversations = list(Chat.objects.values_list("conversation_id", flat=True))
    for number, text in enumerate(texts):
        with bot.tenant.tx(), open_log(conversations[number % len(conversations)]) as log:
            log.add_message(MessageRole.AGENT, text, turn=None, idn="agent_message")
    return texts
