"""The buttons that move or remove an item of a list, which a page of scenarios has about thirty times."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.utils.translation import get_language

register = template.Library()


@register.simple_tag
def moves(what: str) -> SafeString:
    """The buttons for `what`, such as "step", in the page's language."""
    return _moves(str(what), get_language())


@lru_cache(maxsize=64)
def _moves(what: str, language: str) -> SafeString:
    return render_to_string("agent/_moves.html", {"what": what})
