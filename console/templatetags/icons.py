"""The address of the icons, for `_icon.html`, which a page includes about a hundred times."""

from __future__ import annotations

from functools import cache

from django import template
from django.templatetags.static import static

register = template.Library()


@register.simple_tag
@cache
def sprite() -> str:
    """The URL of the icons' sprite."""
    return static("vendor/tabler-icons-3.51.0/sprite.svg")
