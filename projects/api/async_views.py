"""Doors that go on after their transaction: to wait, to stream, to ask a model.

The request itself is served by an ordinary view, in a thread, in one short transaction; only then is anything waited for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from django.http import HttpRequest
from rest_framework.response import Response

# Django takes an async view where its stubs know a plain one.
AsyncView = Any


def door_of(view: Any) -> Callable[[AsyncView], AsyncView]:
    """Let an async function stand where the class's own view would, also for the schema."""

    def dress(door: AsyncView) -> AsyncView:
        for name in ("cls", "initkwargs", "csrf_exempt"):
            setattr(door, name, getattr(plain(view), name))
        return door

    return dress


def plain(view: Any) -> Any:
    """The class's own view, which serves the request."""
    return view.as_view()


def rendered(view: Any, request: HttpRequest, **kwargs: Any) -> Response:
    """The plain view's answer, ready to leave. For tenancy.threads.in_db."""
    response = view(request, **kwargs)
    response.render()
    return cast(Response, response)
