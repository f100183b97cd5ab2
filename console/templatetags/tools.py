"""Names of tools for people: `{{ promise.tool|tool_title }}`."""

from __future__ import annotations

from django import template

from tools.engine.tool_words import title_of_tool

register = template.Library()
register.filter("tool_title", title_of_tool)
