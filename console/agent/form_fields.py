"""The fields of a form as a template shows them: name, value, what is wrong with it, and what is better changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Box:
    """One input."""

    name: str
    value: str
    error: str = ""
    warnings: Sequence[str] = ()

    @property
    def id(self) -> str:
        return self.name.replace(".", "-")


class Boxes:
    """Makes the boxes of a form, and knows which of its errors stand beside none of them."""

    def __init__(self, errors: Mapping[str, str], *, warnings: Mapping[str, Sequence[str]] | None = None) -> None:
        self._errors = errors
        self._warnings = warnings or {}
        self._shown: set[str] = set()

    def box(self, path: str, value: object = "") -> Box:
        """An input, with the first error of its path or of what lies below it; without one, with its warnings."""
        found = [key for key in self._errors if key == path or key.startswith(f"{path}.")]
        self._shown.update(found)
        error = self._errors[found[0]] if found else ""
        return Box(path, "" if value is None else str(value), error, () if error else self._warnings.get(path, ()))

    def error(self, path: str) -> str:
        """The error of a group of fields itself."""
        self._shown.add(path)
        return self._errors.get(path, "")

    def homeless(self) -> dict[str, str]:
        """The errors that no input of this form shows."""
        return {path: text for path, text in self._errors.items() if path not in self._shown}
