"""Approval races: approvers, editors and cancellations at the same moment, while workers run what they find.

The target's own log is the evidence: how often money was refunded, and how much.
"""

from __future__ import annotations

import asyncio
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connections

from jobs import claims
from jobs.attempt import attempt
from jobs.lanes import lane_of
from jobs.models import LIVE, Job
from projects.models import Member
from tenancy.threads import in_db
from tests.conversations.effects.target import Target
from tests.processes import until
from tests.todos.conftest import REFUND, Desk, refund_tool
from tests.todos.races import together
from todos import services
from todos.approvals import manual_completion
from todos.content.lifecycle import Actor
from todos.models import Approval, Todo, TodoStatus
from tools.engine.custom import service as custom_tools

SEEN, SWAPPED = 82, 820
# The first so many races are of approvers alone, so that some money is paid in any case.
CALM = 10
MOST_AT_ONCE = 5
IDLE_SECONDS = 0.02

Deed = Callable[[], Any]


@dataclass
class Races:
    """A desk with members and a target; `refused` counts the errors that losers got."""

    desk: Desk
    target: Target
    people: list[Member]
    chance: random.Random
    todos: list[Todo] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)

    def save_tool(self) -> None:
        """Refund money at the target from now on."""
        document = refund_tool()
        document["action"]["options"]["url"] = f"{self.target.url}/refunds"
        with self.desk.tenant.tx():
            custom_tools.save(self.desk.tenant.project, name=REFUND, document=document)

    def run(self, count: int) -> None:
        """Run this many races, each over its own todo, beside two workers, until nothing is left to do."""
        with ThreadPoolExecutor(MOST_AT_ONCE) as pool, workers(2):
            for _ in range(count):
                self._race(pool)
            until(self._is_quiet, what="every todo's job ended")

    def findings(self) -> list[str]:
        """Contradictions between the target's log and the rows: paid twice, unapproved or without a record."""
        paid = Counter(heard.document["order"] for heard in self.target.log)
        wrong = [heard.document for heard in self.target.log if heard.document["amount"] != SEEN]
        found = [f"{count} refunds of {order}" for order, count in paid.items() if count > 1]
        found += [f"nobody has seen {document}" for document in wrong]
        return found + [problem for todo in self.todos for problem in self._problems(todo, paid)]

    def paid(self) -> set[str]:
        """The refunded orders."""
        return {heard.document["order"] for heard in self.target.log}

    def _race(self, pool: ThreadPoolExecutor) -> None:
        order = str(len(self.todos))
        todo = self.desk.refund(arguments={"body": {"amount": SEEN, "order": order}})
        self.todos.append(todo)
        deeds = self._deeds(todo, order, is_calm=len(self.todos) <= CALM)
        for answer in together(pool, deeds):
            if isinstance(answer, Exception):
                self.refused[f"{type(answer).__name__}: {answer}"[:60]] += 1

    def _deeds(self, todo: Todo, order: str, *, is_calm: bool) -> list[Deed]:
        seen = self.desk.seen(todo)
        yeses: list[Deed] = [self._yes(todo, by, seen) for by in self.people]
        if is_calm:
            return yeses
        swapped = {"body": {"amount": SWAPPED, "order": order}}
        others: list[Deed] = [
            lambda: self.desk.edit(todo, arguments=swapped),
            lambda: self._swap(todo, swapped),
            lambda: self.desk.do(services.reject_todo, todo.pk, actor=Actor("no")),
            lambda: self.desk.do(services.cancel_todo, todo.pk, actor=Actor("stop")),
            lambda: self._take(todo, self.people[0], seen),
            lambda: self._do_by_hand(todo, self.people[1], seen),
            lambda: self._take_and_hand_back(todo, self.people[1], seen),
            self.save_tool,
        ]
        rivals = self.chance.sample(others, self.chance.randint(1, MOST_AT_ONCE - len(yeses)))
        return self.chance.sample([*yeses, *rivals], len(yeses) + len(rivals))

    def _yes(self, todo: Todo, by: Member, seen: dict[str, Any]) -> Deed:
        return lambda: self.desk.approve(todo, by, **seen)

    def _take(self, todo: Todo, by: Member, seen: dict[str, Any]) -> None:
        """Somebody refunds it by hand."""
        self.desk.do(manual_completion.take_todo, todo.pk, **seen, actor=Actor(by.user.name, by.pk), member=by)

    def _do_by_hand(self, todo: Todo, by: Member, seen: dict[str, Any]) -> None:
        """Somebody takes it on and refunds it a moment later."""
        self._take(todo, by, seen)
        self.desk.do(manual_completion.complete_todo, todo.pk, actor=Actor(by.user.name, by.pk), note="Paid in cash.")

    def _take_and_hand_back(self, todo: Todo, by: Member, seen: dict[str, Any]) -> None:
        """Somebody takes it on and returns it to review."""
        self._take(todo, by, seen)
        self.desk.do(services.review_again, todo.pk, actor=Actor(by.user.name, by.pk))

    def _swap(self, todo: Todo, arguments: dict[str, Any]) -> None:
        """Change the arguments without a new version or history."""
        with self.desk.tenant.tx():
            Todo.objects.filter(pk=todo.pk).update(arguments=arguments)

    def _is_quiet(self) -> bool:
        with self.desk.tenant.tx():
            return not Job.objects.filter(lane="todo", state__in=LIVE).exists()

    def _problems(self, todo: Todo, paid: Counter[str]) -> Iterator[str]:
        now, order = self.desk.now(todo), todo.arguments["body"]["order"]
        with self.desk.tenant.tx():
            given = list(Approval.objects.filter(todo=todo))
        if len({approval.version for approval in given}) != len(given):
            yield f"{order} was approved twice"
        if any(approval.content["arguments"]["body"]["amount"] != SEEN for approval in given):
            yield f"{order} was approved as nobody saw it"
        if now.status == TodoStatus.COMPLETED and not paid[order] and not now.taker:
            yield f"{order} is completed and was never paid"
        if now.taker and paid[order]:
            yield f"{order} was paid though somebody had taken it on"
        if paid[order] and not given:
            yield f"{order} was paid and never approved"


@contextmanager
def workers(count: int) -> Iterator[None]:
    """Workers that claim and run todos' jobs like the real ones, each on its own loop."""
    stop = threading.Event()
    threads = [threading.Thread(target=lambda: asyncio.run(_work(stop))) for _ in range(count)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        stop.set()
        for thread in threads:
            thread.join()


async def _work(stop: threading.Event) -> None:
    lane = lane_of("todo")
    try:
        while not stop.is_set():
            jobs = await in_db(claims.claim, [lane], limit=4)
            await asyncio.gather(*(attempt(job, lane) for job in jobs))
            if not jobs:
                await asyncio.sleep(IDLE_SECONDS)
    finally:
        connections.close_all()
