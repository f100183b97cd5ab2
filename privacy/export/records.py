"""Rows as they are exported: without secrets, and without the names of the business's own people."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db.models import BinaryField, Field, ForeignKey, Model, QuerySet

from privacy.registry import BY_MODEL, OF_CUSTOMERS
from privacy.subjects import SubjectIds, rows_of
from tenancy.personal_data import TableContents

Record = dict[str, Any]
# Search columns that the database computes from others.
COMPUTED = frozenset({"found_by", "found_by_last"})


def records_of(contents: TableContents, ids: SubjectIds) -> list[Record]:
    """The records of a table that belong to these subjects, oldest first."""
    return [record(row, contents) for row in ordered(rows_of(contents, ids))]


def all_records(ids: SubjectIds, *, apart: tuple[type[Model], ...]) -> dict[str, list[Record]]:
    """The records of every table by its name, without empty ones and without the tables in `apart`."""
    found = {contents.name: records_of(contents, ids) for contents in OF_CUSTOMERS if contents.model not in apart}
    return {name: records for name, records in found.items() if records}


def record(row: Model, contents: TableContents, *, with_staff: bool = False) -> Record:
    """A row as a record. `with_staff` includes who of the business's people did it."""
    hidden = {*contents.secret, *(() if with_staff else contents.staff), *COMPUTED, "organization_id"}
    fields = [field for field in row._meta.concrete_fields if with_staff or not _names_staff(field)]
    # A column that was left out stays unread.
    return {
        field.attname: getattr(row, field.attname)
        for field in fields
        if field.column not in hidden and field.attname in vars(row) and not _is_file(field)
    }


def contents_of(model: type[Model]) -> TableContents:
    return BY_MODEL[model]


def ordered(rows: QuerySet[Any], *, without: tuple[str, ...] = ()) -> Iterator[Any]:
    """The rows by their ids, which are in the order of time, without the named columns."""
    left_out = {*without, *files_in(rows.model)}
    found = rows.order_by("pk").distinct()
    yield from found.defer(*left_out) if left_out else found


def files_in(model: type[Model]) -> list[str]:
    """The columns with contents of files, which are no part of a record."""
    return [field.attname for field in model._meta.concrete_fields if _is_file(field)]


def _is_file(field: Field[Any, Any]) -> bool:
    return type(field) is BinaryField


def _names_staff(field: Any) -> bool:
    """True for a reference to a user, and for a copied number of one."""
    is_user = isinstance(field, ForeignKey) and field.remote_field.model._meta.label == settings.AUTH_USER_MODEL
    return is_user or field.name == "actor_id"
