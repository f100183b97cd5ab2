"""Server-side prepared statements, run by name.

psycopg processes the query text, the values and their types for each execution, which takes longer than the round trip.
Here each connection prepares a statement at its first use. Values are sent as text, and the server infers their types.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

import psycopg
from django.db import DEFAULT_DB_ALIAS, connections
from psycopg.adapt import AdaptersMap, Transformer
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus
from psycopg.types.json import Jsonb
from psycopg.types.string import TextLoader

if TYPE_CHECKING:
    from tenancy.postgresql.base import DatabaseWrapper

# Statements that a connection keeps prepared. Few shapes occur in practice; the limit bounds unusual ones.
MOST_PREPARED = 200
# After this many runs on a connection, and whenever they have doubled since, the server makes its plans anew. For an
# empty table all indexes cost the same, so a first plan may read all rows of a tenant to find one by its key.
FIRST_RENEWAL = 32
SUCCESS = (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK)


# The connection of statements of "default": a replica's in a transaction for reports (`tenancy.replica`).
reports_alias: ContextVar[str] = ContextVar("reports", default=DEFAULT_DB_ALIAS)

_numbers = count()


class Prepared:
    """A statement with a `%s` for each value, on the connection `using`."""

    def __init__(self, text: str, *, using: str = "default") -> None:
        self._text = _numbered(text).encode()
        self._name = b"makegood_%d" % next(_numbers)
        self._using = using

    @property
    def text(self) -> str:
        """The statement, with its values numbered."""
        return self._text.decode()

    def __call__(self, *values: Any) -> list[tuple[Any, ...]]:
        """Run the statement and return its rows. Raises Django's database errors."""
        return self.run([as_text(value) for value in values])

    def run(self, values: Sequence[bytes | None]) -> list[tuple[Any, ...]]:
        """Run the statement with values that are encoded already."""
        wrapper = connections[reports_alias.get() if self._using == DEFAULT_DB_ALIAS else self._using]
        cast("DatabaseWrapper", wrapper).require_open()
        if wrapper.queries_logged:
            wrapper.queries_log.append({"sql": self.text, "time": ""})
        with wrapper.wrap_database_errors:
            return _session_of(wrapper.connection).run(self._name, self._text, values)


def command(connection: psycopg.Connection[Any], text: str) -> None:
    """Run a statement that begins or ends a transaction. Raises psycopg's errors.

    Bypasses psycopg, which would discard the prepared statements.
    """
    _session_of(connection).command(text.encode())


def as_text(value: Any) -> bytes | None:
    """Encode a value in PostgreSQL's text format."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, datetime):
        return value.isoformat().encode()
    if isinstance(value, tuple):
        return f"{{{','.join(map(str, value))}}}".encode()
    if isinstance(value, timedelta):
        return b"%d microseconds" % (value // timedelta(microseconds=1))
    if isinstance(value, Jsonb):
        return json.dumps(value.obj).encode()
    return str(value).encode()


@dataclass
class _Session:
    """The state of one connection."""

    pgconn: Any
    names: OrderedDict[bytes, None] = field(default_factory=OrderedDict)
    # The loaders of the result types, looked up once per connection.
    reader: Any = field(default_factory=lambda: Transformer(_LoaderConfig()))
    runs: int = 0
    renew_at: int = FIRST_RENEWAL

    def run(self, name: bytes, text: bytes, values: Sequence[bytes | None]) -> list[tuple[Any, ...]]:
        if name not in self.names:
            self._prepare(name, text)
        self.names.move_to_end(name)
        self._require_open()
        self._renew_plans()
        return self._rows_of(self._checked(self.pgconn.exec_prepared(name, values)))

    def _renew_plans(self) -> None:
        self.runs += 1
        if self.runs >= self.renew_at:
            self.command(b"discard plans")
            self.renew_at = self.runs * 2

    def _rows_of(self, result: Any) -> list[tuple[Any, ...]]:
        if not result.ntuples:
            return []
        self.reader.set_pgresult(result)
        rows: list[tuple[Any, ...]] = self.reader.load_rows(0, result.ntuples, tuple)
        return rows

    def command(self, text: bytes) -> None:
        self._require_open()
        self._checked(self.pgconn.exec_(text))

    def _prepare(self, name: bytes, text: bytes) -> None:
        self._require_open()
        self._checked(self.pgconn.prepare(name, text))
        self.names[name] = None
        if len(self.names) > MOST_PREPARED:
            oldest, _ = self.names.popitem(last=False)
            # A message of the protocol, which poolers translate. They don't read `deallocate`.
            self._checked(self.pgconn.close_prepared(oldest))

    def _require_open(self) -> None:
        if self.pgconn.status != ConnStatus.OK:
            raise psycopg.OperationalError("the connection is closed")

    def _checked(self, result: Any) -> Any:
        if result.status in SUCCESS:
            return result
        # An error without a state comes from the client's library, which may notice a broken connection later.
        if self.pgconn.status != ConnStatus.OK or not result.error_field(DiagnosticField.SQLSTATE):
            raise psycopg.OperationalError(result.get_error_message())
        raise psycopg.errors.error_from_result(result)


class _LoaderConfig:
    """The configuration for reading rows: that of a connection in UTC, as all of Django's are."""

    adapters = AdaptersMap(psycopg.adapters)
    connection = None


# As in Django, JSON is loaded as text and parsed by its field.
_LoaderConfig.adapters.register_loader("jsonb", TextLoader)

_sessions: WeakKeyDictionary[psycopg.Connection[Any], _Session] = WeakKeyDictionary()


def _session_of(connection: psycopg.Connection[Any]) -> _Session:
    session = _sessions.get(connection)
    if session is None:
        session = _sessions[connection] = _Session(connection.pgconn)
    return session


def _numbered(text: str) -> str:
    """Replace each `%s` with the server's numbered placeholder."""
    first, *rest = text.split("%s")
    return "".join([first, *(f"${number}{part}" for number, part in enumerate(rest, 1))]).replace("%%", "%")
