"""The icons that templates name."""

from __future__ import annotations

import re

from django.conf import settings
from django.utils.html import escape

from console.templatetags.icons import icon

NAMED = re.compile(r'{% icon "([^"]+)"')


def test_the_sprite_has_every_icon_that_a_template_names() -> None:
    templates = (settings.BASE_DIR / "templates").rglob("*.html")
    names = {name for template in templates for name in NAMED.findall(template.read_text())}
    assert [name for name in sorted(names) if "<path" not in icon(name)] == []


def test_an_unknown_icon_is_empty() -> None:
    assert "<path" not in icon("no-such-icon")


def test_classes_are_escaped() -> None:
    assert escape('"><b>') in icon("bell", '"><b>')
