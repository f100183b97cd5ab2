"""Sentences that are stored in English and shown in the reader's language."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from django.utils.translation import override

from projects.common.stored_sentences import SENTENCES, translated

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("conversations", "jobs", "llm", "outbound", "todos", "tools")


def texts_in(path: Path) -> list[str]:
    """The texts of a module, each with `{}` for what an f-string inserts."""
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.JoinedStr):
            found.append("".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value)
    return found


def test_each_sentence_is_still_written_by_the_code() -> None:
    """Part by part: a sentence may be put together from several texts."""
    written = "\n".join(text for room in ROOMS for path in (ROOT / room).rglob("*.py") for text in texts_in(path))
    parts = {part.strip(" .;:,()“”") for one in SENTENCES for part in re.split(r"%\(\w+\)s|(?<=\.) |(?<=;) ", one)}
    assert sorted(part for part in parts if part not in written) == []


@pytest.mark.parametrize(
    ("stored", "shown"),
    [
        ("The endpoint refused it (404).", "Der Endpunkt hat es abgelehnt (404)."),
        (
            "send_sms was not done: Twilio is limiting requests (429).",
            "send_sms wurde nicht ausgeführt: Twilio begrenzt die Anfragen (429).",
        ),
        (
            "The carrier filtered the text as spam. (Twilio 30007)",
            "Der Netzbetreiber hat die SMS als Spam aussortiert. (Twilio 30007)",
        ),
        ("The business is closed.", "Das Geschäft ist geschlossen."),
        ("Make good: I'll call you.", "Wiedergutmachen: I'll call you."),
        ("An error of the endpoint's own.", "An error of the endpoint's own."),
        ("", ""),
    ],
)
def test_a_stored_sentence_is_shown_in_the_readers_language(stored: str, shown: str) -> None:
    with override("de"):
        assert translated(stored) == shown
    with override("en"):
        assert translated(stored) == stored
