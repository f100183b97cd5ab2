"""What a caller may do with a view."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ImproperlyConfigured
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from projects.api.caller import caller_of
from projects.common.api_error import ApiError

READING = {"HEAD": "GET"}


class HasScope(BasePermission):
    """Holds the caller to the view's `scopes`, a scope by HTTP method. A method that names none is a mistake."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Raises ApiError 401 without a caller and 403 without the scope."""
        caller = caller_of(request)
        if caller is None:
            raise not_authenticated()
        method = READING.get(request.method or "", request.method or "")
        if method.lower() not in view.http_method_names or not hasattr(view, method.lower()):
            return True  # the view answers 405 by itself
        scope = view.scopes.get(method)
        if scope is None:
            raise ImproperlyConfigured(f"{type(view).__name__}.scopes has no scope for {method}.")
        if scope not in caller.scopes:
            raise ApiError("missing_scope", f"This needs the scope '{scope}'.", status=403)
        return True


def not_authenticated() -> ApiError:
    """401 for a request that says nothing of who calls."""
    return ApiError(
        "not_authenticated",
        "Send the header Authorization: Bearer <project API key>.",
        status=401,
        headers={"WWW-Authenticate": 'Bearer realm="makegood"'},
    )
