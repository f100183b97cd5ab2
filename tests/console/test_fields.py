"""The fields of the console's forms."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from console.templatetags.fields import field_error, text_area, text_input

HOSTILE = "\"'><script>alert(1)</script>&amp;"


def box_of(value: str = "", error: str = "") -> SimpleNamespace:
    return SimpleNamespace(id="title", name="title", value=value, error=error)


@pytest.mark.parametrize("field", [text_input, text_area])
def test_no_text_of_a_field_closes_its_tags(field: object) -> None:
    box = box_of(HOSTILE, HOSTILE)
    markup = field(box, HOSTILE, hint=HOSTILE, placeholder=HOSTILE)  # type: ignore[operator]
    assert "<script" not in markup
    assert HOSTILE not in markup
    assert markup.count("&lt;script&gt;") == 5
    assert markup.count("&amp;amp;") == 5


def test_a_field_leads_to_what_is_wrong_with_it() -> None:
    markup = text_input(box_of(error="Enter a title."), "Title", hint="Shown to customers.")
    assert 'aria-invalid="true" aria-describedby="title-error"' in markup
    assert 'id="title-error"' in markup


def test_a_field_without_an_error_leads_to_its_hint() -> None:
    markup = text_area(box_of(), "Title", hint="Shown to customers.")
    assert 'aria-describedby="title-hint"' in markup
    assert 'id="title-hint"' in markup
    assert "aria-invalid" not in markup


def test_a_field_with_nothing_to_say_leads_nowhere() -> None:
    assert "aria-describedby" not in text_area(box_of("Hello"), "Title")


def test_a_value_that_is_right_has_no_error() -> None:
    assert field_error("title", "") == ""
