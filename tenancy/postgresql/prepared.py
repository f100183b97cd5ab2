"""Statements that a connection prepares at their first use, and runs by their name from then on.

The driver's own way walks through the text, the values and their types each time, which takes it longer than the exchange with
the server. Here a value goes as text, and the server reads it as what the statement takes it for.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from weakref import WeakKeyDictionary

import psycopg
from django.db import connections
from psycopg.adapt import AdaptersMap, Transformer
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.types.string import TextLoader

# What a connection keeps prepared: few shapes are met, and a flood of odd ones must not stay.
MOST_PREPARED = 200
FINE = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)


_numbers = count()


class Prepared:
    """A statement with a `%s` for each value, on the connection `using`."""

    def __init__(self, text: str, *, using: str = "default") -> None:
        self._text = _numbered(text).encode()
        self._name = b"makegood_%d" % next(_numbers)
        self._using = using

    def __call__(self, *values: Any) -> list[tuple[Any, ...]]:
        """Run it, and return its rows. Raises what the database refuses, as Django's errors."""
        return self.run([as_text(value) for value in values])

    def run(self, values: Sequence[bytes | None]) -> list[tuple[Any, ...]]:
        """Run it with values that are texts already."""
        wrapper = connections[self._using]
        wrapper.ensure_connection()
        if wrapper.queries_logged:
            wrapper.queries_log.append({"sql": self._text.decode(), "time": ""})
        with wrapper.wrap_database_errors:
            return _session_of(wrapper.connection).run(self._name, self._text, values)


def command(connection: psycopg.Connection[Any], text: str) -> None:
    """Run what begins or ends a transaction, past the driver, which would forget what is prepared. Raises psycopg's errors."""
    _session_of(connection).command(text.encode())


def as_text(value: Any) -> bytes | None:
    """A value as the server reads it."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, datetime):
        return value.isoformat().encode()
    if isinstance(value, timedelta):
        return b"%d microseconds" % (value // timedelta(microseconds=1))
    return str(value).encode()


@dataclass
class _Session:
    """What is known of one connection."""

    pgconn: Any
    names: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    # Which loader reads which type is looked up once for a connection.
    reader: Any = field(default_factory=lambda: Transformer(_Reader()))

    def run(self, name: bytes, text: bytes, values: Sequence[bytes | None]) -> list[tuple[Any, ...]]:
        if name not in self.names:
            self._prepare(name, text)
        self.names.move_to_end(name)
        self._demand_open()
        return self._rows_of(self._checked(self.pgconn.exec_prepared(name, values)))

    def _rows_of(self, result: Any) -> list[tuple[Any, ...]]:
        if not result.ntuples:
            return []
        self.reader.set_pgresult(result)
        rows: list[tuple[Any, ...]] = self.reader.load_rows(0, result.ntuples, tuple)
        return rows

    def command(self, text: bytes) -> None:
        self._demand_open()
        self._checked(self.pgconn.exec_(text))

    def _prepare(self, name: bytes, text: bytes) -> None:
        self._demand_open()
        self._checked(self.pgconn.prepare(name, text))
        self.names[name] = None
        if len(self.names) > MOST_PREPARED:
            oldest, _ = self.names.popitem(last=False)
            self.command(b"deallocate " + oldest)

    def _demand_open(self) -> None:
        if self.pgconn.status != ConnStatus.OK:
            raise psycopg.OperationalError("the connection is closed")

    def _checked(self, result: Any) -> Any:
        if result.status in FINE:
            return result
        if self.pgconn.status != ConnStatus.OK:
            raise psycopg.OperationalError(result.get_error_message())
        raise psycopg.errors.error_from_result(result)


class _Reader:
    """How the driver reads the values of rows: as on a connection whose time zone is UTC, which Django gives each of ours."""

    adapters = AdaptersMap(psycopg.adapters)
    connection = None


# As Django has it: JSON comes as text, and its fields read it.
_Reader.adapters.register_loader("jsonb", TextLoader)

_sessions: WeakKeyDictionary[psycopg.Connection[Any], _Session] = WeakKeyDictionary()


def _session_of(connection: psycopg.Connection[Any]) -> _Session:
    session = _sessions.get(connection)
    if session is None:
        session = _sessions[connection] = _Session(connection.pgconn)
    return session


def _numbered(text: str) -> str:
    """The text with the server's own placeholders."""
    first, *rest = text.split("%s")
    return "".join([first, *(f"${number}{part}" for number, part in enumerate(rest, 1))]).replace("%%", "%")
