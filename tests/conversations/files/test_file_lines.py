"""The lines that stand for files in the content of a message."""

from __future__ import annotations

import pytest

from conversations.common.file_lines import without_brackets, words_of


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("See this\n[File: a.png]", "See this"),
        ("a.png\n[File: a.png]", "a.png"),
        ("[File: a.png]\n[File: b.pdf]", ""),
        ("a.png, b.pdf", ""),
        ("", ""),
    ],
)
def test_files_that_are_shown_are_no_words(content: str, words: str) -> None:
    assert words_of(content, ["a.png", "b.pdf"]) == words


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("[File: a.png]\n[File: b.pdf]", "a.png, b.pdf"),
        ("See this\n[File: a.png]", "See this\na.png"),
        ("[Voice message, 12 s]", "Voice message, 12 s"),
        ("[Not a file]", "[Not a file]"),
    ],
)
def test_a_list_shows_files_by_their_names(content: str, shown: str) -> None:
    assert without_brackets(content) == shown
