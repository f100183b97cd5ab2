"""Languages of the product's own texts for customers (`settings.LANGUAGES`). The agent itself answers in any language."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.utils.translation import get_supported_language_variant

from projects.widget.widgets import find_widget


def best_language(*codes: str) -> str:
    """The first code with a translation, where `it-CH` falls back to `it`; the default language otherwise."""
    for code in codes:
        try:
            return get_supported_language_variant(code.lower())
        except LookupError:
            continue
    return settings.LANGUAGE_CODE


def customer_language(project_id: UUID, *, known: str, asked: str) -> str:
    """The customer's `known` language, else the widget's, else the browser's (`asked`).

    Must run in the tenant's transaction.
    """
    widget = find_widget(project_id)
    return best_language(known, str(widget.theme.get("language", "")) if widget else "", asked)
