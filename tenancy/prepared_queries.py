"""Reads whose SQL is made once.

Django builds the text of a query anew each time it runs, which costs several times what running it does. The reads of a turn
have one shape each, so their text is made at the first call, and only the values change after that. Rows become the same
model instances as ever, and the tenant is as much a part of them: each run asks for the current organization.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar
from uuid import UUID

from django.db import models
from django.db.models.query import get_related_populators
from pydantic_core import from_json

from tenancy.postgresql.prepared import Prepared, as_text
from tenancy.scope import current_organization_id, template_tenant

M = TypeVar("M", bound=models.Model)

Value = UUID | int | str | datetime

_TENANT = UUID(int=0xFFFF_0000)


class PreparedValues:
    """A read of `build(*values)`, values being UUIDs, integers, texts or moments, each used in a filter; its rows are tuples.

    `build` is called once, with stand-ins; it must not look at them. Runs on the default connection, in any thread.
    """

    def __init__(self, build: Callable[..., models.QuerySet[Any, Any]], *, kinds: tuple[type, ...]) -> None:
        self._build = build
        self._stand_ins = [_stand_in(kind, index) for index, kind in enumerate(kinds)]
        self._made: _Text | None = None

    def __call__(self, *values: Value) -> list[tuple[Any, ...]]:
        """The rows for these values, of the running transaction's organization. Raises NoTenant outside one."""
        return self.text.rows(current_organization_id(), *values)

    @property
    def text(self) -> _Text:
        """The statement. Threads that ask for it at once make one each, and any of them will do."""
        if self._made is None:
            with template_tenant(_TENANT):
                query = self._build(*self._stand_ins).query
            self._made = _Text(query.get_compiler("default"), stand_ins=(_TENANT, *self._stand_ins))
        return self._made


class PreparedQuery(PreparedValues, Generic[M]):
    """The same with whole rows: instances of the model."""

    def __init__(self, build: Callable[..., models.QuerySet[M]], *, kinds: tuple[type, ...]) -> None:
        super().__init__(build, kinds=kinds)
        self._instances: _Instances | None = None

    def __call__(self, *values: Value) -> list[M]:  # type: ignore[override]  # rows of another kind
        rows = super().__call__(*values)
        instances = self._instances
        if instances is None:
            instances = self._instances = _Instances(self.text.compiler)
        return [instances.of(row) for row in rows]


class _Text:
    """One statement's text, and what its values and rows go through. Doesn't change."""

    def __init__(self, compiler: Any, *, stand_ins: tuple[Value, ...]) -> None:
        self.compiler = compiler
        self.sql, parameters = compiler.as_sql()
        places: dict[Any, int] = {value: place for place, value in enumerate(stand_ins)}
        # For each parameter its place among the values, or, where it is none of them, its text.
        self._parameters = [(places.get(parameter), as_text(parameter)) for parameter in parameters]
        converters = compiler.get_converters([column[0] for column in compiler.select])
        self._readers = [
            (place, _reader(convert, expression, compiler.connection))
            for place, (convert, expression) in converters.items()
        ]
        self._statement = Prepared(self.sql)

    def values(self, *given: Value) -> list[bytes | None]:
        """The statement's parameters for these values, the organization first."""
        texts = [as_text(value) for value in given]
        return [text if place is None else texts[place] for place, text in self._parameters]

    def rows(self, *given: Value) -> list[tuple[Any, ...]]:
        rows = self._statement.run(self.values(*given))
        return [self._read(row) for row in rows] if self._readers else rows

    def _read(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        values = list(row)
        for place, reader in self._readers:
            values[place] = reader(values[place])
        return tuple(values)


class _Instances:
    """How rows become instances. Doesn't change."""

    def __init__(self, compiler: Any) -> None:
        info = compiler.klass_info
        self._model, fields = info["model"], info["select_fields"]
        self._start, self._end = fields[0], fields[-1] + 1
        self._names = [column[0].target.attname for column in compiler.select[self._start : self._end]]
        self._related = get_related_populators(info, compiler.select, "default")  # type: ignore[call-arg]  # a later Django's
        self._annotations = compiler.annotation_col_map.items()

    def of(self, row: Any) -> Any:
        instance = self._model.from_db("default", self._names, row[self._start : self._end])
        for populator in self._related:
            populator.populate(row, instance)
        for name, column in self._annotations:
            setattr(instance, name, row[column])
        return instance


def _reader(converters: Sequence[Callable[..., Any]], expression: Any, connection: Any) -> Callable[[Any], Any]:
    """What makes a column's value of what the server sent: what Django would do, with a faster reader of JSON."""
    field = getattr(expression, "target", None)
    if len(converters) == 1 and isinstance(field, models.JSONField) and field.decoder is None:
        return _json_value

    def read(value: Any) -> Any:
        for convert in converters:
            value = convert(value, expression, connection)
        return value

    return read


def _json_value(text: str | None) -> Any:
    return None if text is None else from_json(text)


def _stand_in(kind: type, index: int) -> Value:
    """A value that no row has, to be found again among the parameters of the query."""
    if kind is UUID:
        return UUID(int=0xFFFF_1000 + index)
    if kind is str:
        return f"stand-in {index}"
    return 1_987_654_000 + index if kind is int else datetime(9998, 1, 1 + index, tzinfo=UTC)
