"""Forms over lists of text entries: procedures, intents, observed fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from console.agent.form_fields import FormFields
from console.agent.nested_form_data import Node, rows_of, text_of
from projects.common.translation import lazy

# Index placeholder in the <template> element that the script clones.
NEW = "__i__"
Choices = Sequence[tuple[str, str]]
SCOPES: Choices = (("customer", lazy("Every conversation")), ("conversation", lazy("One conversation")))


class RowsForm:
    """The form of one list in the document. `choices` are the values and labels of a column; the first is its default."""

    def __init__(self, name: str, columns: Sequence[str], *, choices: Mapping[str, Choices] | None = None) -> None:
        self._name = name
        self._choices = choices or {}
        self._defaults = dict.fromkeys(columns, "") | {column: given[0][0] for column, given in self._choices.items()}

    def read(self, entries: Node) -> dict[str, Any]:
        rows = rows_of(entries, self._name)
        return {
            self._name: [
                {column: text_of(row, column) or default for column, default in self._defaults.items()} for row in rows
            ]
        }

    def show(self, document: dict[str, Any], fields: FormFields) -> dict[str, Any]:
        rows = document[self._name]
        return {
            "rows": [self._row(fields, index, row) for index, row in enumerate(rows)],
            "list_error": fields.error(self._name),
            "new_row": self._row(fields, NEW, self._defaults),
            "choices": self._choices,
        }

    def _row(self, fields: FormFields, index: int | str, row: Mapping[str, Any]) -> dict[str, Any]:
        # A saved row may be older than a column with a default.
        return {
            column: fields.field(f"{self._name}.{index}.{column}", row.get(column, default))
            for column, default in self._defaults.items()
        }


procedures = RowsForm("procedures", ("title", "text"))
intents = RowsForm("intents", ("name", "working_hours", "non_working_hours"))
observer_fields = RowsForm("observer_fields", ("key", "description"), choices={"scope": SCOPES})
