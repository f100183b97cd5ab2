"""Async views: an ordinary view serves the request in one short transaction, and the async one goes on from what it left.

@continues(Orders)
async def orders(request: HttpRequest, served: Continued[Lookup]) -> HttpResponseBase:
    return served.json({"results": await fetch(served.state)})
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, Generic, TypeVar, cast

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from rest_framework.response import Response

from projects.api.typed_responses import Accepted
from tenancy.threads import in_db

S = TypeVar("S")

# Django takes an async view where its stubs know a plain one.
AsyncView = Any


class Continued(Accepted[Any], Generic[S]):
    """A view's response to a request that its async view completes. `state` is what the async view needs for that."""

    def __init__(self, state: S, *, payload: Any = None, status: int = Accepted.code) -> None:
        super().__init__(payload)
        self.state, self.status_code = state, status

    def json(self, payload: Any, *, status: int = 200) -> JsonResponse:
        """The final response, with the headers that the view has set."""
        kept = {name: value for name, value in self.headers.items() if not name.startswith("Content-")}
        return JsonResponse(payload, status=status, headers=kept)


def continues(view: Any) -> Callable[[Callable[[HttpRequest, Continued[S]], Awaitable[HttpResponseBase]]], AsyncView]:
    """Let an async function complete the requests that `view` leaves `Continued`; its other responses are final."""

    def dress(complete: Callable[[HttpRequest, Continued[S]], Awaitable[HttpResponseBase]]) -> AsyncView:
        async def door(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
            response = await serve(view, request, **kwargs)
            return await complete(request, response) if isinstance(response, Continued) else response

        return door_of(view)(door)

    return dress


def door_of(view: Any) -> Callable[[AsyncView], AsyncView]:
    """Let an async function stand where the class's own view would, also for the schema."""

    def dress(door: AsyncView) -> AsyncView:
        for name in ("cls", "initkwargs", "csrf_exempt"):
            setattr(door, name, getattr(_plain(view), name))
        return door

    return dress


async def serve(view: Any, request: HttpRequest, **kwargs: Any) -> Response:
    """The response of the class's own view, ready to leave."""
    return await in_db(_rendered, _plain(view), request, **kwargs)


@cache
def _plain(view: Any) -> Any:
    return view.as_view()


def _rendered(view: Any, request: HttpRequest, **kwargs: Any) -> Response:
    response = view(request, **kwargs)
    response.render()
    return cast(Response, response)
