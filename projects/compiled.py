"""Reads whose SQL is made once.

Django builds the text of a query anew each time it runs, which costs several times what running it does. The reads of a turn
have one shape each, so their text is made at the first call, and only the values change after that. Rows become the same
model instances as ever, and the tenant is as much a part of them: each run asks for the current organization.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import models
from django.db.models.query import get_related_populators

from projects.postgresql.prepared import Prepared, as_text
from projects.tenancy import current_organization_id, template_tenant

M = TypeVar("M", bound=models.Model)

Value = UUID | int | str | datetime

_TENANT = UUID(int=0xFFFF_0000)


class CompiledValues:
    """A read of `build(*values)`, values being UUIDs, integers, texts or moments, each used in a filter; its rows are tuples.

    `build` is called once, with stand-ins; it must not look at them. Runs on the default connection.
    """

    def __init__(self, build: Callable[..., models.QuerySet[Any, Any]], *, kinds: tuple[type, ...]) -> None:
        self._build = build
        self._stand_ins = [_stand_in(kind, index) for index, kind in enumerate(kinds)]
        self._statement: Prepared | None = None

    def __call__(self, *values: Value) -> list[tuple[Any, ...]]:
        """The rows for these values, of the running transaction's organization. Raises NoTenant outside one."""
        given = [as_text(value) for value in (current_organization_id(), *values)]
        statement = self._statement or self._compile()
        rows = statement.run([text if place is None else given[place] for place, text in self._parameters])
        return list(self._compiler.apply_converters(rows, self._converters)) if self._converters else rows

    def _compile(self) -> Prepared:
        with template_tenant(_TENANT):
            query = self._build(*self._stand_ins).query
        self._compiler: Any = query.get_compiler("default")
        self._sql, parameters = self._compiler.as_sql()
        places: dict[Any, int] = {value: place for place, value in enumerate((_TENANT, *self._stand_ins))}
        # For each parameter its place among the values, or, where it is none of them, its text.
        self._parameters = [(places.get(parameter), as_text(parameter)) for parameter in parameters]
        self._converters = self._compiler.get_converters([column[0] for column in self._compiler.select])
        self._statement = Prepared(self._sql)
        return self._statement


class Compiled(CompiledValues, Generic[M]):
    """The same with whole rows: instances of the model."""

    def __init__(self, build: Callable[..., models.QuerySet[M]], *, kinds: tuple[type, ...]) -> None:
        super().__init__(build, kinds=kinds)

    def __call__(self, *values: Value) -> list[M]:  # type: ignore[override]  # rows of another kind
        return [self._instance(row) for row in super().__call__(*values)]

    def _compile(self) -> Prepared:
        statement = super()._compile()
        compiler = self._compiler
        info = compiler.klass_info
        self._model, fields = info["model"], info["select_fields"]
        self._start, self._end = fields[0], fields[-1] + 1
        self._names = [column[0].target.attname for column in compiler.select[self._start : self._end]]
        self._related = get_related_populators(info, compiler.select, "default")  # type: ignore[call-arg]  # a later Django's
        self._annotations = compiler.annotation_col_map.items()
        return statement

    def _instance(self, row: Any) -> M:
        instance: M = self._model.from_db("default", self._names, row[self._start : self._end])
        for populator in self._related:
            populator.populate(row, instance)
        for name, column in self._annotations:
            setattr(instance, name, row[column])
        return instance


def _stand_in(kind: type, index: int) -> Value:
    """A value that no row has, to be found again among the parameters of the query."""
    if kind is UUID:
        return UUID(int=0xFFFF_1000 + index)
    if kind is str:
        return f"stand-in {index}"
    return 1_987_654_000 + index if kind is int else datetime(9998, 1, 1 + index, tzinfo=UTC)
