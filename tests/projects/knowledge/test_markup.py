"""The little markup: what it shows, and that nothing of it becomes anything else."""

from __future__ import annotations

import pytest

from projects.knowledge.markup import plain_text, read_markup

TEXT = """\
# Dogs
They are **welcome** on the *terrace*,
with `a lead`. See [the map](https://maps.example/x).

- one
- two
1. first
2) second
"""


def test_headings_stand_beneath_the_title() -> None:
    assert [block.level for block in read_markup("# A\n## B\n### C\n#### D")] == [2, 3, 4, 4]


def test_markup_is_read_into_blocks() -> None:
    blocks = read_markup(TEXT)
    assert [(block.kind, len(block.lines)) for block in blocks] == [
        ("heading", 1),
        ("paragraph", 2),
        ("bullets", 2),
        ("numbers", 2),
    ]
    assert [(span.kind, span.text) for span in blocks[1].lines[0] if span.kind != "plain"] == [
        ("strong", "welcome"),
        ("soft", "terrace"),
    ]


def test_plain_text_has_no_marks_and_keeps_addresses() -> None:
    assert plain_text(TEXT).splitlines()[:3] == [
        "Dogs",
        "They are welcome on the terrace,",
        "with a lead. See the map (https://maps.example/x).",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[x](javascript:alert(1))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "[x](//evil.example)",
        "[x](vbscript:x)",
        "[x]( javascript:alert(1))",
    ],
)
def test_an_address_that_could_run_is_words(text: str) -> None:
    assert [span.kind for block in read_markup(text) for line in block.lines for span in line] == ["plain"]
