"""How many files a message enters on its way to its kept promise: those a newcomer reads to follow one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier
from types import FrameType
from typing import Any

from django.conf import settings
from django.test import AsyncClient

from tenancy import threads
from tests.conversations.tool_runs.conftest import turns
from tests.conversations.tool_runs.turns import Turns
from tools.models import Promise, PromiseState

__all__ = ["turns"]

# A ratchet: it only goes down. What is remembered for a while may add a file or two where it is read anew.
MOST = 133
PRODUCT = ("outbound", "llm", "tenancy", "projects", "jobs", "tools", "todos", "conversations")
LANES = ("reply", "observer", "thoughts", "tool_caller", "effect")


@contextmanager
def entering() -> Iterator[set[str]]:
    """The product's files in which a function is called meanwhile, in this thread and in those of the database."""
    called: set[str] = set()
    found: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            called.add(frame.f_code.co_filename)

    _profile(note)
    try:
        yield found
    finally:
        _profile(None)
        paths = [Path(one).relative_to(settings.BASE_DIR) for one in called if one.startswith(str(settings.BASE_DIR))]
        found.update(str(path) for path in paths if path.parts[0] in PRODUCT)


def _profile(note: Callable[[FrameType, str, Any], None] | None) -> None:
    for pool in (threads._pool, threads._ops):
        together = Barrier(pool._max_workers)
        for done in [pool.submit(_profile_here, note, together) for _ in range(pool._max_workers)]:
            done.result()
    sys.setprofile(note)


def _profile_here(note: Callable[[FrameType, str, Any], None] | None, together: Barrier) -> None:
    """Each thread of a pool takes one of these: none is done before all are there."""
    together.wait()
    sys.setprofile(note)


def keep_a_promise(turns: Turns) -> None:
    """A customer asks for a text, the agent promises it, and it is sent."""
    turns.says("I'll text you the opening hours now.")
    assert asyncio.run(post(turns)) == 202
    for lane in LANES:
        turns.run(lane)


async def post(turns: Turns) -> int:
    path = f"/api/v1/conversations/{turns.conversation.pk}/messages"
    body = {"content": "Could you text me the opening hours?"}
    response = await AsyncClient().post(path, body, content_type="application/json", headers=turns.tenant.headers)
    return int(response.status_code)


def test_a_message_enters_few_files_on_its_way_to_a_kept_promise(turns: Turns) -> None:
    # The first one also enters what is made once for a process.
    keep_a_promise(turns.on("chat", external_id="first", phone="+393475550141"))
    with entering() as files:
        keep_a_promise(turns.on("chat", external_id="second", phone="+393475550142"))
    with turns.tenant.tx():
        assert [promise.state for promise in Promise.objects.all()] == [PromiseState.KEPT] * 2
    assert len(files) <= MOST, "\n".join(sorted(files))
