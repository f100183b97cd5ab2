"""What somebody else does between two statements of ours, over a connection of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from django.db import connection

from tests.conversations.threads import in_thread
from tests.processes import until


@contextmanager
def meanwhile(words: str, deed: Callable[[], object]) -> Iterator[list[Future[object]]]:
    """Right after the first statement of ours that holds these words somebody else does the deed, to its end or until they
    have to wait for us. Yields what they do; its result is there once our own transaction is over.
    """
    begun: list[Future[object]] = []

    def begin(execute: Any, sql: str, *rest: Any) -> Any:
        answer = execute(sql, *rest)
        if words in sql and not begun:
            begun.append(in_thread(pool, deed))
            until(lambda: begun[0].done() or is_anybody_waiting(), what="the other's end, or their waiting")
        return answer

    with ThreadPoolExecutor(1) as pool, connection.execute_wrapper(begin):
        yield begun
    assert begun, f"no statement held {words}"


def is_anybody_waiting() -> bool:
    """Whether a transaction waits for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("select exists (select 1 from pg_locks where not granted)")
        return bool(cursor.fetchone()[0])
