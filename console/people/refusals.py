"""Errors about a row, shown next to it after the redirect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest

from projects.common.api_error import Conflict


@contextmanager
def refusals(request: HttpRequest, *, about: UUID) -> Iterator[None]:
    """Turn a Conflict raised in the block into an error on the row with this id."""
    try:
        yield
    except Conflict as error:
        messages.error(request, error.message, extra_tags=str(about))


def take_refusals(request: HttpRequest) -> dict[str, str]:
    """Pending errors by row id. Each is returned once."""
    return {message.extra_tags: message.message for message in messages.get_messages(request) if message.extra_tags}
