"""The icons of the console's pages. A builtin library of its templates: `{% icon "check" %}`, `{% icon "bell" "mg-i-lg" %}`."""

from __future__ import annotations

from functools import lru_cache

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

SPRITE = "vendor/tabler-icons-3.51.0/sprite.svg"
SVG = '<svg class="{}" aria-hidden="true"><use href="{}#{}"/></svg>'


@register.simple_tag
@lru_cache(maxsize=1024)
def icon(name: str, classes: str = "") -> SafeString:
    """The icon of this name in the sprite, with more classes of CSS. A page shows about a hundred, so each is made once."""
    return format_html(SVG, f"mg-i {classes}".rstrip(), static(SPRITE), name)
