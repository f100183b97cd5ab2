"""The options of a select: `{{ zones|options:box.value }}`."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from django import template
from django.utils.html import format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

OPTION = '<option value="{}"{}>{}</option>'
SELECTED = mark_safe(" selected")


@register.filter
def options(choices: Iterable[tuple[str, str]], chosen: str = "") -> SafeString:
    """The options of values and their names, one of them chosen."""
    return _options(tuple((value, str(name)) for value, name in choices), chosen)


@lru_cache(maxsize=256)
def _options(choices: tuple[tuple[str, str], ...], chosen: str) -> SafeString:
    """The same names make the same options. There are four hundred time zones."""
    return format_html_join("", OPTION, ((value, SELECTED if value == chosen else "", name) for value, name in choices))
