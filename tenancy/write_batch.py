"""Inserts and updates combined into one statement, whose SQL is built once.

Django sends a statement for each model and compiles it each time, which costs several times as much as running it. The
writes of a turn have few shapes. The SQL of a shape is built at its first use; later uses only pass new values.
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
    """A row to be updated no longer exists, or belongs to another tenant."""


@dataclass(frozen=True)
class _Insert:
    """A number of new rows of one model."""

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
    """New rows of one model, with their values in one list."""

    count: int = 0
    values: list[str | None] = field(default_factory=list)


class WriteBatch:
    """New and changed rows, sent as one statement inside the current transaction.

    Automatic timestamps are set when a row is added, and the row may be used from then on. Rows of a batch may refer to
    each other, because foreign keys are checked at commit. A row inserted in a batch can't be updated in the same
    batch.
    """

    def __init__(self) -> None:
        self._inserts: dict[type[TenantModel], _NewRows] = {}
        self._updates: dict[tuple[type[TenantModel], UUID], dict[str, str | None]] = {}

    @property
    def is_empty(self) -> bool:
        return not self._inserts and not self._updates

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
        """Add fields of a stored row with their present values. Fields added earlier stay."""
        columns = _columns_of(type(row), tuple(fields))
        texts = [column.value_of(row, is_new=False) for column in columns]
        self._update(type(row), row.pk).update(zip(fields, texts, strict=True))

    def change(self, model: type[TenantModel], key: UUID, **values: Any) -> None:
        """Add fields of a stored row by its key, without loading it."""
        columns = _columns_of(model, tuple(values))
        texts = [column.text_of(value) for column, value in zip(columns, values.values(), strict=True)]
        self._update(model, key).update(zip(values, texts, strict=True))

    def send(self) -> None:
        """Execute the batch. Raises LostRow or a database error; both end the transaction."""
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
        """The pending changes of a row. They are combined, because one statement can update a row only once."""
        return self._updates.setdefault((model, key), {})


def insert_rows(rows: Iterable[R]) -> list[R]:
    """Insert rows of one model in one statement, and return them. An empty list sends nothing."""
    new, writes = list(rows), WriteBatch()
    writes.insert(new)
    writes.send()
    return new


def insert_if_absent(row: TenantModel) -> bool:
    """Insert a row unless its unique values exist already. Returns True if it was inserted.

    Waits for a concurrent transaction that inserts the same values.
    """
    texts = [column.value_of(row, is_new=True) for column in _columns(type(row))]
    written = _insert_if_absent(type(row)).run([None if text is None else text.encode() for text in texts])
    row._state.adding, row._state.db = not written, "default"
    return bool(written)


def update_row(row: TenantModel, fields: Sequence[str]) -> None:
    """Update some fields of a stored row. Raises LostRow."""
    writes = WriteBatch()
    writes.update(row, fields)
    writes.send()


# A shape includes the number of rows per model. Few occur in practice; the limit bounds the memory that unusual ones
# take.
@lru_cache(maxsize=1024)
def _statement(shapes: tuple[_Shape, ...]) -> Prepared:
    """One statement for all shapes. It returns the number of updated rows."""
    steps = [f"step_{number} as ({shape.sql})" for number, shape in enumerate(shapes)]
    updates = [number for number, shape in enumerate(shapes) if isinstance(shape, _Update)]
    changed = " + ".join(f"(select count(*) from step_{number})" for number in updates) or "0"  # noqa: S608 - numbers
    return Prepared(f"with {', '.join(steps)} select {changed}")


@cache
def _insert_if_absent(model: type[TenantModel]) -> Prepared:
    return Prepared(f"{_Insert(model, 1).sql} on conflict do nothing returning 1")


@dataclass(frozen=True)
class _Column:
    """A field's column and the conversion of its values.

    Values are always text, so the statement doesn't depend on them.
    """

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
        # A lone surrogate has no UTF-8 form. Send it escaped, so that the server rejects it like any other invalid
        # value.
        return json.dumps(value)


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    return str(value)
