"""Forms over lists of text entries: procedures, intents, observed fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from console.agent.form_fields import FormFields
from console.agent.nested_form_data import Node, rows_of, text_of

# Index placeholder in the <template> element that the script clones.
NEW = "__i__"


class RowsForm:
    """The form of one list in the document."""

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self._name = name
        self._columns = columns

    def read(self, entries: Node) -> dict[str, Any]:
        rows = rows_of(entries, self._name)
        return {self._name: [{column: text_of(row, column) for column in self._columns} for row in rows]}

    def show(self, document: dict[str, Any], fields: FormFields) -> dict[str, Any]:
        rows = document[self._name]
        return {
            "rows": [self._row(fields, index, row) for index, row in enumerate(rows)],
            "list_error": fields.error(self._name),
            "new_row": self._row(fields, NEW, dict.fromkeys(self._columns, "")),
        }

    def _row(self, fields: FormFields, index: int | str, row: dict[str, Any]) -> dict[str, Any]:
        return {column: fields.field(f"{self._name}.{index}.{column}", row[column]) for column in self._columns}


procedures = RowsForm("procedures", ("title", "text"))
intents = RowsForm("intents", ("name", "working_hours", "non_working_hours"))
observer_fields = RowsForm("observer_fields", ("key", "description"))
