"""What could not be done to a row, said beside that row after the redirect."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest

from projects.common.api_error import Conflict


@contextmanager
def refusals(request: HttpRequest, *, about: UUID) -> Iterator[None]:
    """Around a service's call: its refusal is kept for the row with this id."""
    try:
        yield
    except Conflict as error:
        messages.error(request, error.message, extra_tags=str(about))


def take_refusals(request: HttpRequest) -> dict[str, str]:
    """What was refused, by the row's id; each is given once."""
    return {message.extra_tags: message.message for message in messages.get_messages(request) if message.extra_tags}
