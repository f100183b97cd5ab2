"""Problems of a definition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from projects.common.api_error import ApiError


@dataclass(frozen=True)
class Problem:
    """One mistake: its dotted path in the JSON (`conditions.agentPromised.type`), and a sentence on how to correct it.

    `is_malformed` is true if the document isn't what the OpenAPI document describes.
    """

    path: str
    message: str
    is_malformed: bool = False

    def below(self, path: str) -> Problem:
        """The same problem relative to an outer document. The path is also prefixed in the sentence.

        A `name` is the key of the outer document, so its own path is dropped; and OpenAPI describes no keys.
        """
        is_key = self.path == "name"
        inner = "" if is_key else self.path
        longer = join(path, inner)
        is_named = bool(inner) and self.message.startswith(inner)
        message = longer + self.message[len(inner) :] if is_named else self.message
        return replace(self, path=longer, message=message, is_malformed=self.is_malformed and not is_key)


class DefinitionRefused(ApiError):
    """The tool can't be saved. `problems` are in the order of the document.

    The status is 400 if the document is malformed, otherwise 422.
    """

    def __init__(self, problems: Sequence[Problem]) -> None:
        first, more = problems[0], len(problems) - 1
        also = f" ({more} more: {', '.join(problem.path for problem in problems[1:4])})" if more else ""
        status = 400 if any(problem.is_malformed for problem in problems) else 422
        super().__init__("invalid_definition", first.message + also, field=first.path or None, status=status)
        self.problems = list(problems)


def join(path: str, *names: str) -> str:
    """Append names to a dotted path; long names are cut."""
    return ".".join(part for part in (path, *(name[:160] for name in names)) if part)
