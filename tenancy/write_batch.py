"""Rows written together, in one statement whose text is made once.

Django sends a statement for each row or kind of row, and makes its text anew each time, which costs several times what
running it does. The writes of a turn have few shapes; a shape's text is made at its first use and only values change.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, lru_cache
from typing import Any, TypeVar
from uuid import UUID

from django.db import models
from pydantic_core import to_json

from tenancy.postgresql.prepared import Prepared
from tenancy.scope import current_organization_id
from tenancy.tenant_models import TenantModel

R = TypeVar("R", bound=TenantModel)


class LostRow(RuntimeError):
    """A row that was to be changed is gone, or another tenant's."""


@dataclass(frozen=True)
class _Insert:
    """So many new rows of a model."""

    model: type[TenantModel]
    count: int

    @property
    def sql(self) -> str:
        columns = _columns(self.model)
        row = f"({', '.join(['%s'] * len(columns))})"
        names = ", ".join(f'"{column.name}"' for column in columns)
        return f"insert into {self.model._meta.db_table} ({names}) values {', '.join([row] * self.count)}"  # noqa: S608 - names of our own tables


@dataclass(frozen=True)
class _Update:
    """Some fields of one row."""

    model: type[TenantModel]
    fields: tuple[str, ...]

    @property
    def sql(self) -> str:
        names = [column.name for column in _columns_of(self.model, self.fields)]
        changes = ", ".join(f'"{name}" = %s' for name in names)
        return f"update {self.model._meta.db_table} set {changes} where id = %s and organization_id = %s returning 1"  # noqa: S608 - names of our own tables


_Shape = _Insert | _Update


@dataclass
class _NewRows:
    """Rows of one model to be written, their values one after the other."""

    count: int = 0
    values: list[str | None] = field(default_factory=list)


class WriteBatch:
    """New rows and changed ones, sent as one statement inside the running transaction.

    A new row gets its automatic moments when it is added here, and may be used from then on. References to it within one
    sending are fine, because foreign keys are checked when the transaction commits; changing it has to wait for the next.
    """

    def __init__(self) -> None:
        self._inserts: dict[type[TenantModel], _NewRows] = {}
        self._updates: dict[tuple[type[TenantModel], UUID], dict[str, str | None]] = {}

    def insert(self, rows: Iterable[TenantModel]) -> None:
        """Add new rows, all of one model."""
        new = list(rows)
        if not new:
            return
        columns, known = _columns(type(new[0])), self._inserts.setdefault(type(new[0]), _NewRows())
        known.values += [column.value_of(row, is_new=True) for row in new for column in columns]
        known.count += len(new)
        for row in new:
            row._state.adding, row._state.db = False, "default"

    def update(self, row: TenantModel, fields: Sequence[str]) -> None:
        """Add fields of a stored row, as the row has them now. What was added of it before stays."""
        columns = _columns_of(type(row), tuple(fields))
        texts = [column.value_of(row, is_new=False) for column in columns]
        self._update(type(row), row.pk).update(zip(fields, texts, strict=True))

    def change(self, model: type[TenantModel], key: UUID, **values: Any) -> None:
        """Add fields of a stored row that needn't be at hand."""
        columns = _columns_of(model, tuple(values))
        texts = [column.text_of(value) for column, value in zip(columns, values.values(), strict=True)]
        self._update(model, key).update(zip(values, texts, strict=True))

    def send(self) -> None:
        """Write what was added. Raises LostRow, and what the database refuses; the transaction is over then."""
        shapes: list[_Shape] = [_Insert(model, new.count) for model, new in self._inserts.items()]
        values = [value for new in self._inserts.values() for value in new.values]
        for (model, key), changes in self._updates.items():
            shapes.append(_Update(model, tuple(changes)))
            values += [*changes.values(), str(key), str(current_organization_id())]
        if not shapes:
            return
        statement = _statement(tuple(shapes))
        [(changed,)] = statement.run([None if value is None else value.encode() for value in values])
        if changed != len(self._updates):
            raise LostRow(LostRow.__doc__)
        self._inserts, self._updates = {}, {}

    def _update(self, model: type[TenantModel], key: UUID) -> dict[str, str | None]:
        """What is changed of a row: together, because one statement can change a row only once."""
        return self._updates.setdefault((model, key), {})


def insert_rows(rows: Iterable[R]) -> list[R]:
    """Write new rows of one model, in one statement; none for none. Returns them."""
    new, writes = list(rows), WriteBatch()
    writes.insert(new)
    writes.send()
    return new


def insert_unless_there(row: TenantModel) -> bool:
    """Write a new row, unless one with its unique values is there: False then. Waits for whoever is just writing that one."""
    texts = [column.value_of(row, is_new=True) for column in _columns(type(row))]
    written = _unless_there(type(row)).run([None if text is None else text.encode() for text in texts])
    row._state.adding, row._state.db = not written, "default"
    return bool(written)


def update_row(row: TenantModel, fields: Sequence[str]) -> None:
    """Write some fields of a stored row. Raises LostRow."""
    writes = WriteBatch()
    writes.update(row, fields)
    writes.send()


# A shape holds how many rows of each model there are: few are met, and a flood of odd ones must not stay.
@lru_cache(maxsize=1024)
def _statement(shapes: tuple[_Shape, ...]) -> Prepared:
    """One statement for all, that answers how many rows its updates have changed."""
    steps = [f"step_{number} as ({shape.sql})" for number, shape in enumerate(shapes)]
    updates = [number for number, shape in enumerate(shapes) if isinstance(shape, _Update)]
    changed = " + ".join(f"(select count(*) from step_{number})" for number in updates) or "0"  # noqa: S608 - numbers
    return Prepared(f"with {', '.join(steps)} select {changed}")


@cache
def _unless_there(model: type[TenantModel]) -> Prepared:
    return Prepared(f"{_Insert(model, 1).sql} on conflict do nothing returning 1")


@dataclass(frozen=True)
class _Column:
    """A field's column, and what goes into it: always text, so that a shape has one statement whatever the values are."""

    name: str
    attribute: str
    as_text: Callable[[Any], str | None]
    automatic: Callable[[models.Model, bool], Any] | None

    def value_of(self, row: models.Model, *, is_new: bool) -> str | None:
        return self.text_of(self.automatic(row, is_new) if self.automatic else getattr(row, self.attribute))

    def text_of(self, value: Any) -> str | None:
        return None if value is None else self.as_text(value)


@cache
def _columns(model: type[TenantModel]) -> tuple[_Column, ...]:
    return tuple(_column(field) for field in model._meta.concrete_fields)


@cache
def _columns_of(model: type[TenantModel], fields: tuple[str, ...]) -> tuple[_Column, ...]:
    return tuple(_column(model._meta.get_field(name)) for name in fields)


def _column(field: Any) -> _Column:
    is_automatic = getattr(field, "auto_now", False) or getattr(field, "auto_now_add", False)
    return _Column(
        name=field.column,
        attribute=field.attname,
        as_text=_json if isinstance(field, models.JSONField) else _text,
        automatic=field.pre_save if is_automatic else None,
    )


def _json(value: Any) -> str:
    try:
        return to_json(value).decode()
    except ValueError:
        # Half a character, which has no UTF-8: the server says so as it does of anything else that it can't keep.
        return json.dumps(value)


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)
