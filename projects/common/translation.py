"""Translated messages that are defined when a module is imported."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.utils.translation import gettext_lazy, override, pgettext_lazy


def lazy(message: str) -> str:
    """The message, translated each time it is shown.

    It is typed as the text that it becomes. Apply `str` before you store, join or compare it.
    """
    return cast(str, gettext_lazy(message))


def plazy(context: str, message: str) -> str:
    """As `lazy`, for a word with a context."""
    return cast(str, pgettext_lazy(context, message))


def in_english(message: str) -> str:
    """A lazy message as it is stored or cached, for readers of every language and for models."""
    with override(settings.LANGUAGE_CODE):
        return str(message)
