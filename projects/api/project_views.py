"""What the views of a project have in common."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar

from django.core.exceptions import ImproperlyConfigured
from django.db.models import Model, QuerySet
from rest_framework.serializers import BaseSerializer

from projects.api.pagination import PAGED, Pages
from projects.api.typed_responses import Page, TypedResponse
from projects.api.views import TenantView

M = TypeVar("M", bound=Model)
P = TypeVar("P")


@cache
def _checker(serializer: type[BaseSerializer[Any]]) -> BaseSerializer[Any]:
    """One serializer of a kind for all bodies: its fields are made once, and checking a body leaves nothing in it."""
    return serializer()


class ProjectView(TenantView):
    """A view of the caller's project."""

    ordering: str

    def valid(self, serializer: type[BaseSerializer[Any]]) -> dict[str, Any]:
        """The request's body, checked. Raises ValidationError, which names the field."""
        checker = _checker(serializer)  # type: ignore[arg-type]  # mypy takes no class for a key
        return dict(checker.run_validation(self.request.data))

    def page(self, rows: QuerySet[M], present: Callable[[M], P], *, ordering: str = "-id") -> TypedResponse[Page[P]]:
        """One page of rows, and where the next one is. A view that takes no `limit` and `cursor` is a mistake."""
        if not {*PAGED} <= {*self.queries.get("GET", ())}:
            raise ImproperlyConfigured(f"{type(self).__name__}.queries has no PAGED for GET.")
        pages, self.ordering = Pages(), ordering
        found = pages.paginate_queryset(rows, self.request, view=self) or []
        return pages.get_paginated_response([present(row) for row in found])
