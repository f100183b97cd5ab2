"""Names of tools for people: `{{ promise.tool|tool_title }}`."""

from __future__ import annotations

from django import template
from django.utils.html import json_script
from django.utils.safestring import SafeString

from tools.engine.tool_words import TOOL_WORDS, title_of_tool

register = template.Library()
register.filter("tool_title", title_of_tool)


@register.simple_tag
def tool_titles() -> SafeString:
    """The titles of the built-in tools for a page's script (static/js/format.js)."""
    return json_script({name: str(words.title) for name, words in TOOL_WORDS.items()}, "tool-titles")
