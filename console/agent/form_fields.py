"""Form fields as templates render them: name, value, error, warnings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class FormField:
    """One input."""

    name: str
    value: str
    error: str = ""
    warnings: Sequence[str] = ()

    @property
    def id(self) -> str:
        return self.name.replace(".", "-")


class FormFields:
    """Creates a form's fields and tracks which errors none of them shows."""

    def __init__(self, errors: Mapping[str, str], *, warnings: Mapping[str, Sequence[str]] | None = None) -> None:
        self._errors = errors
        self._warnings = warnings or {}
        self._shown: set[str] = set()

    def field(self, path: str, value: object = "") -> FormField:
        """A field with the first error at or below its path, else with its warnings."""
        found = [key for key in self._errors if key == path or key.startswith(f"{path}.")]
        self._shown.update(found)
        error = self._errors[found[0]] if found else ""
        return FormField(
            path, "" if value is None else str(value), error, () if error else self._warnings.get(path, ())
        )

    def error(self, path: str) -> str:
        """The error of a group of fields."""
        self._shown.add(path)
        return self._errors.get(path, "")

    def unplaced(self) -> dict[str, str]:
        """Errors that no field of this form shows."""
        return {path: text for path, text in self._errors.items() if path not in self._shown}
