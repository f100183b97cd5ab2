"""Schema changes beside a version that runs."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.backends.postgresql.schema import DatabaseSchemaEditor

# With the name that PostgreSQL gives to a column's check. Each new row is checked, and the rows that are there have the
# default: to read them would lock the table for that long.
ADD_CHECK = "ALTER TABLE %(table)s ADD CONSTRAINT %(name)s CHECK (%(check)s) NOT VALID"
LONGEST_NAME = 63


class SchemaEditor(DatabaseSchemaEditor):
    """Keeps the default of a column that is added, and reads no row of the table for its check.

    Django drops the default, since its own models write every column. But the version that runs beside the migration
    doesn't know the column, and without a default its inserts would fail.
    """

    _adds_field = False

    def add_field(self, model: type[models.Model], field: models.Field[Any, Any]) -> None:
        table, check = model._meta.db_table, field.db_parameters(connection=self.connection)["check"]
        name = f"{table}_{field.column}_check"
        is_apart = bool(check) and len(name) <= LONGEST_NAME
        self._adds_field = True
        if is_apart:
            self.sql_check_constraint = ""
        try:
            super().add_field(model, field)
        finally:
            self._adds_field = False
            self.sql_check_constraint = DatabaseSchemaEditor.sql_check_constraint
        if is_apart:
            parts = {"table": self.quote_name(table), "name": self.quote_name(name), "check": check}
            self.execute(ADD_CHECK % parts, None)

    def skip_default_on_alter(self, field: models.Field[Any, Any]) -> bool:
        """Django's hook: true if the default of a column is not to be dropped."""
        return (self._adds_field and is_constant(field)) or bool(super().skip_default_on_alter(field))


def is_constant(field: models.Field[Any, Any]) -> bool:
    """True if each row has the same default, unlike an id or the time."""
    return bool(field.get_default() == field.get_default())
