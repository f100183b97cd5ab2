"""Times inside translated sentences: `{% blocktranslate with at=row.saved|ago %}Saved {{ at }}{% endblocktranslate %}`."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext

from console.timestamps import Timestamp

register = template.Library()


@register.filter
def ago(at: Timestamp | None) -> SafeString:
    """The age of a timestamp as a `<time>` element. Empty without a timestamp."""
    return _element(at, at.ago) if at else SafeString()


@register.filter
def day(at: Timestamp | None) -> SafeString:
    """The date of a timestamp as a `<time>` element. Empty without a timestamp."""
    return _element(at, at.date) if at else SafeString()


def _element(at: Timestamp, words: str) -> SafeString:
    return format_html(gettext('<time datetime="{}" title="{}">{}</time>'), at.iso, at.exact, words)
