"""Async views: a synchronous view handles the request in one short transaction, and an async function completes it.

@continues(Orders)
async def orders(request: HttpRequest, served: Continued[Lookup]) -> HttpResponseBase:
    return served.json({"results": await fetch(served.state)})
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, Generic, TypeVar, cast

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.utils.translation import override
from rest_framework.response import Response

from projects.api.typed_responses import Accepted
from tenancy.threads import in_db

S = TypeVar("S")

# Django accepts an async view where its stubs expect a synchronous one.
AsyncView = Any


class Continued(Accepted[Any], Generic[S]):
    """A response that the async view completes, using `state`."""

    def __init__(self, state: S, *, payload: Any = None, status: int = Accepted.code) -> None:
        super().__init__(payload)
        self.state, self.status_code = state, status

    def json(self, payload: Any, *, status: int = 200) -> JsonResponse:
        """The final response, with the headers set by the synchronous view."""
        headers = {name: value for name, value in self.headers.items() if not name.startswith("Content-")}
        return JsonResponse(payload, status=status, headers=headers)


def continues(view: Any) -> Callable[[Callable[[HttpRequest, Continued[S]], Awaitable[HttpResponseBase]]], AsyncView]:
    """Let an async function complete requests that `view` answers with `Continued`; any other response is final."""

    def decorate(complete: Callable[[HttpRequest, Continued[S]], Awaitable[HttpResponseBase]]) -> AsyncView:
        async def async_view(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
            response = await serve(view, request, **kwargs)
            if not isinstance(response, Continued):
                return response
            with override(getattr(request, "staff_language", settings.LANGUAGE_CODE)):
                return await complete(request, response)

        return replaces(view)(async_view)

    return decorate


def replaces(view: Any) -> Callable[[AsyncView], AsyncView]:
    """Register an async function in place of the class's own view, for the URL resolver and the schema."""

    def decorate(async_view: AsyncView) -> AsyncView:
        for name in ("cls", "initkwargs", "csrf_exempt"):
            setattr(async_view, name, getattr(_sync_view(view), name))
        return async_view

    return decorate


async def serve(view: Any, request: HttpRequest, **kwargs: Any) -> Response:
    """Run the class's own view in a database thread and return its rendered response."""
    return await in_db(_render, _sync_view(view), request, **kwargs)


@cache
def _sync_view(view: Any) -> Any:
    return view.as_view()


def _render(view: Any, request: HttpRequest, **kwargs: Any) -> Response:
    response = view(request, **kwargs)
    response.render()
    return cast(Response, response)
