"""Parsing the markup of articles; scripts and HTML stay plain text."""

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


def test_headings_rank_below_the_title() -> None:
    assert [block.level for block in read_markup("# A\n## B\n### C\n#### D")] == [2, 3, 4, 4]


def test_markup_is_parsed_into_blocks() -> None:
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


def test_plain_text_drops_markup_and_keeps_urls() -> None:
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
def test_a_script_url_stays_plain_text(text: str) -> None:
    assert [span.kind for block in read_markup(text) for line in block.lines for span in line] == ["plain"]
