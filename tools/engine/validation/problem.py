"""Problems of a definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from projects.common.api_error import ApiError


@dataclass(frozen=True)
class Problem:
    """One mistake: its dotted path in the JSON (`conditions.agentPromised.type`), and a sentence on how to correct it."""

    path: str
    message: str

    def below(self, path: str) -> Problem:
        """The same problem relative to an outer document. The path is also prefixed in the sentence.

        A `name` is the key of the outer document, so its own path is dropped.
        """
        inner = "" if self.path == "name" else self.path
        longer = join(path, inner)
        is_named = bool(inner) and self.message.startswith(inner)
        return Problem(longer, longer + self.message[len(inner) :] if is_named else self.message)


class DefinitionRefused(ApiError):
    """The tool can't be saved. `problems` are in the order of the document."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        first, more = problems[0], len(problems) - 1
        also = f" ({more} more: {', '.join(problem.path for problem in problems[1:4])})" if more else ""
        super().__init__("invalid_definition", first.message + also, field=first.path or None)
        self.problems = list(problems)


def join(path: str, *names: str) -> str:
    """Append names to a dotted path; long names are cut."""
    return ".".join(part for part in (path, *(name[:160] for name in names)) if part)
