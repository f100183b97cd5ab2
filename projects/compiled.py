"""Reads whose SQL is made once.

Django builds the text of a query anew each time it runs, which costs several times what running it does. The reads of a turn
have one shape each, so their text is made at the first call, and only the values change after that. Rows become the same
model instances as ever, and the tenant is as much a part of them: each run asks for the current organization.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import connections, models
from django.db.models.query import get_related_populators

from projects.tenancy import current_organization_id, template_tenant

M = TypeVar("M", bound=models.Model)

Value = UUID | int | str | datetime

_TENANT = UUID(int=0xFFFF_0000)


class Compiled(Generic[M]):
    """A read of `build(*values)`, values being UUIDs, integers, texts or moments, each used in a filter.

    `build` is called once, with stand-ins; it must not look at them. Runs on the default connection.
    """

    def __init__(self, build: Callable[..., models.QuerySet[M]], *, kinds: tuple[type, ...]) -> None:
        self._build = build
        self._stand_ins = [_stand_in(kind, index) for index, kind in enumerate(kinds)]
        self._compiler: Any = None

    def __call__(self, *values: Value) -> list[M]:
        """The rows for these values, of the running transaction's organization. Raises NoTenant outside one."""
        return self.ask(*values)()

    def ask(self, *values: Value) -> Callable[[], list[M]]:
        """Ask now; what it returns gives the rows. Several asked inside `together` are one exchange with the server."""
        actual = {_TENANT: current_organization_id(), **dict(zip(self._stand_ins, values, strict=True))}
        if self._compiler is None:
            self._compile()
        cursor = connections["default"].cursor()
        cursor.execute(self._sql, [actual.get(value, value) for value in self._parameters])
        return partial(self._rows_of, cursor)

    def _rows_of(self, cursor: Any) -> list[M]:
        with cursor:
            rows = cursor.fetchall()
        return [self._instance(row) for row in self._converted(rows)]

    def _compile(self) -> None:
        with template_tenant(_TENANT):
            query = self._build(*self._stand_ins).query
        compiler = query.get_compiler("default")
        self._sql, self._parameters = compiler.as_sql()
        info = compiler.klass_info
        self._model, fields = info["model"], info["select_fields"]
        self._start, self._end = fields[0], fields[-1] + 1
        self._names = [column[0].target.attname for column in compiler.select[self._start : self._end]]
        self._related = get_related_populators(info, compiler.select, "default")  # type: ignore[call-arg]  # a later Django's
        self._converters = compiler.get_converters([column[0] for column in compiler.select])
        self._annotations = compiler.annotation_col_map.items()
        self._compiler = compiler

    def _converted(self, rows: list[tuple[Any, ...]]) -> Any:
        return self._compiler.apply_converters(rows, self._converters) if self._converters else rows

    def _instance(self, row: Any) -> M:
        instance: M = self._model.from_db("default", self._names, row[self._start : self._end])
        for populator in self._related:
            populator.populate(row, instance)
        for name, column in self._annotations:
            setattr(instance, name, row[column])
        return instance


@contextmanager
def together() -> Iterator[None]:
    """Reads asked inside go out as one, inside a transaction; their rows can be taken after the block."""
    connection = connections["default"]
    with connection.wrap_database_errors, connection.connection.pipeline():
        yield


def _stand_in(kind: type, index: int) -> Value:
    """A value that no row has, to be found again among the parameters of the query."""
    if kind is UUID:
        return UUID(int=0xFFFF_1000 + index)
    if kind is str:
        return f"stand-in {index}"
    return 1_987_654_000 + index if kind is int else datetime(9998, 1, 1 + index, tzinfo=UTC)
