"""Typed responses: the handler's return annotation, checked by mypy, is also the source of the OpenAPI response.

    def get(self, request: Request, ticket_id: UUID) -> TypedResponse[TicketPayload]:
        return TypedResponse(ticket_payload(ticket))

A payload is a TypedDict. If code outside the view produces the response, `extend_schema(responses=…)` names the same
type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import UnionType
from typing import Any, ClassVar, Generic, TypedDict, TypeVar, Union, get_args, get_origin, get_type_hints

from rest_framework.response import Response

from projects.common.presenters import Url

P = TypeVar("P")
P_co = TypeVar("P_co", covariant=True)


class TypedResponse(Generic[P_co], Response):
    """200, with a payload."""

    code: ClassVar[int] = 200

    def __init__(self, payload: P_co) -> None:
        super().__init__(payload, status=self.code)


class Created(TypedResponse[P_co]):
    """201: an object was created."""

    code = 201


class Accepted(TypedResponse[P_co]):
    """202: the request was stored and is being processed."""

    code = 202


class Page(TypedDict, Generic[P]):
    """One page of rows, and the URL of the next one, or null on the last page."""

    results: list[P]
    next: Url | None


def response_types(handler: Callable[..., Any]) -> Mapping[int, Any]:
    """The payload types by status, from the handler's return annotation; empty if it declares none."""
    annotation = get_type_hints(handler, include_extras=True).get("return")
    kinds = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    return {get_origin(kind).code: get_args(kind)[0] for kind in kinds if _is_typed_response(get_origin(kind))}


def _is_typed_response(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, TypedResponse)
