"""Concurrent writers: run something on another connection between two statements of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import get_ident
from typing import Any
from unittest.mock import patch

from django.db import connection

from tenancy.postgresql.prepared import Prepared
from tests.conversations.threads import in_thread
from tests.processes import until


@contextmanager
def meanwhile(words: str, deed: Callable[[], object]) -> Iterator[list[Future[object]]]:
    """Run `deed` on another connection right after the first statement that contains `words`.

    The statement returns when the deed has finished or waits for a lock. Yields a list with its future, whose result may
    come only when the surrounding transaction has ended. Only words with a numbered value (`$1`) are looked for in
    prepared statements.
    """
    begun: list[Future[object]] = []
    ours, run_prepared = get_ident(), Prepared.run

    def begin(sql: str) -> None:
        if words in sql and not begun:
            begun.append(in_thread(pool, deed))
            until(
                lambda: begun[0].done() or is_anybody_waiting(),
                what="the end of the other transaction, or its wait for a lock",
            )

    def execute_then_begin(execute: Any, sql: str, *rest: Any) -> Any:
        answer = execute(sql, *rest)
        begin(sql)
        return answer

    def run_then_begin(statement: Prepared, values: Any) -> Any:
        rows = run_prepared(statement, values)
        if "$" in words and get_ident() == ours:
            begin(statement.text)
        return rows

    with (
        ThreadPoolExecutor(1) as pool,
        connection.execute_wrapper(execute_then_begin),
        patch.object(Prepared, "run", run_then_begin),
    ):
        yield begun
    assert begun, f"no statement held {words}"


def is_anybody_waiting() -> bool:
    """True while a transaction waits for a lock."""
    with connection.cursor() as cursor:
        cursor.execute("select exists (select 1 from pg_locks where not granted)")
        return bool(cursor.fetchone()[0])
