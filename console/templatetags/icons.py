"""The icons of the console's pages. A builtin library of its templates: `{% icon "check" %}`, `{% icon "bell" "mg-i-lg" %}`.

A page contains the drawings of its icons, because an icon of another file arrives after the first layout and causes a second
one. Scripts draw later and refer to the sprite.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from xml.etree import ElementTree

from django import template
from django.conf import settings
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

register = template.Library()

SPRITE = settings.STATICFILES_DIRS[0] / "vendor" / "tabler-icons-3.51.0" / "sprite.svg"
SVG = '<svg class="{}" viewBox="0 0 24 24" aria-hidden="true">{}</svg>'


@register.simple_tag
@lru_cache(maxsize=1024)
def icon(name: str, classes: str = "") -> SafeString:
    """The icon of this name in the sprite, with more classes of CSS; empty if it has none. Each is made once."""
    return format_html(SVG, f"mg-i {classes}".rstrip(), _drawings().get(name, ""))


@cache
def _drawings() -> dict[str, SafeString]:
    """The paths of every symbol of the sprite by its id."""
    symbols = ElementTree.parse(SPRITE).getroot()  # noqa: S314 - a file of ours
    return {symbol.attrib["id"]: format_html_join("", "<path {}/>", _paths(symbol)) for symbol in symbols}


def _paths(symbol: ElementTree.Element) -> Iterator[tuple[SafeString]]:
    """The attributes of a symbol's paths. Its lines are one path; the square behind them is left out."""
    paths = [path.attrib for path in symbol if path.get("stroke") != "none"]
    if lines := "".join(path["d"] for path in paths if len(path) == 1):
        yield (format_html('d="{}"', lines),)
    for path in paths:
        if len(path) > 1:
            yield (format_html_join(" ", '{}="{}"', path.items()),)
