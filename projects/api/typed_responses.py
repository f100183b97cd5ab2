"""What a view answers with, in the type of its handler: mypy holds the code to it, and the OpenAPI document is made of it.

    def get(self, request: Request, ticket_id: UUID) -> Answer[TicketPayload]:
        return Answer(ticket_payload(ticket))

A payload is a TypedDict. Where a door outside the view makes the answer, `extend_schema(responses=…)` names the same type.
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
    """201: something was made."""

    code = 201


class Accepted(TypedResponse[P_co]):
    """202: it is stored, and worked on."""

    code = 202


class Page(TypedDict, Generic[P]):
    """Some rows, and where the next ones are; null where there are no more."""

    results: list[P]
    next: Url | None


def answers_of(handler: Callable[..., Any]) -> Mapping[int, Any]:
    """The payload's type by the status, as the handler's type has them. Nothing for one that doesn't say."""
    said = get_type_hints(handler, include_extras=True).get("return")
    kinds = get_args(said) if get_origin(said) in (Union, UnionType) else (said,)
    return {get_origin(kind).code: get_args(kind)[0] for kind in kinds if _is_answer(get_origin(kind))}


def _is_answer(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, TypedResponse)
