"""What is wrong with a definition, and where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from projects.common.api_error import ApiError


@dataclass(frozen=True)
class Problem:
    """One mistake: its dotted path in the JSON (`conditions.agentPromised.type`), and what would be right."""

    path: str
    message: str

    def below(self, path: str) -> Problem:
        """The same mistake, seen from further out: its path is longer, also in the sentence. A name is the path itself."""
        inner = "" if self.path == "name" else self.path
        longer = join(path, inner)
        is_named = bool(inner) and self.message.startswith(inner)
        return Problem(longer, longer + self.message[len(inner) :] if is_named else self.message)


class DefinitionRefused(ApiError):
    """This tool can't be saved as it is. `problems` are in the order of the document."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        first, more = problems[0], len(problems) - 1
        also = f" ({more} more: {', '.join(problem.path for problem in problems[1:4])})" if more else ""
        super().__init__("invalid_definition", first.message + also, field=first.path or None)
        self.problems = list(problems)


def join(path: str, *names: str) -> str:
    """The dotted path some steps further; a long name is cut."""
    return ".".join(part for part in (path, *(name[:160] for name in names)) if part)
