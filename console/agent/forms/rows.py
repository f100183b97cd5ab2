"""A list of entries of the same few texts: procedures, intents, observed fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from console.agent.form_fields import Boxes
from console.agent.nested_form_data import Node, rows_of, text_of

# Stands for the index in the template from which the script makes new entries.
NEW = "__i__"


class RowsForm:
    """The form of one such list of the document."""

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self._name = name
        self._columns = columns

    def read(self, entries: Node) -> dict[str, Any]:
        rows = rows_of(entries, self._name)
        return {self._name: [{column: text_of(row, column) for column in self._columns} for row in rows]}

    def show(self, document: dict[str, Any], boxes: Boxes) -> dict[str, Any]:
        rows = document[self._name]
        return {
            "rows": [self._row(boxes, index, row) for index, row in enumerate(rows)],
            "list_error": boxes.error(self._name),
            "new_row": self._row(boxes, NEW, dict.fromkeys(self._columns, "")),
        }

    def _row(self, boxes: Boxes, index: int | str, row: dict[str, Any]) -> dict[str, Any]:
        return {column: boxes.box(f"{self._name}.{index}.{column}", row[column]) for column in self._columns}


procedures = RowsForm("procedures", ("title", "text"))
intents = RowsForm("intents", ("name", "working_hours", "non_working_hours"))
observer_fields = RowsForm("observer_fields", ("key", "description"))
