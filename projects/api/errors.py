"""Error responses in one shape, for DRF's views and for Django's error handlers."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import Resolver404
from rest_framework.response import Response

from projects.api.exception_mapping import to_api_error
from projects.common.api_error import ApiError, Conflict
from projects.common.logs import describe_error
from projects.common.middleware import request_id_of

__all__ = [
    "ApiError",
    "Conflict",
    "bad_request",
    "exception_handler",
    "not_found",
    "permission_denied",
    "server_error",
]

log = logging.getLogger(__name__)

API_PREFIX = "/api/"
# Addresses that programs call. A provider's log of webhooks shows our answer.
JSON_PREFIXES = (API_PREFIX, "/hooks/")
NO_ENDPOINT = "No endpoint has this address. Addresses have no slash at the end, and ids are UUIDs: see /api/v1/docs/."
TEMPLATES = frozenset({400, 403, 404, 413, 500})


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response:
    """DRF's exception handler. Unexpected errors are logged with a traceback and answered with 500."""
    request = context["request"]
    api_error = to_api_error(error)
    request_id = request_id_of(getattr(request, "_request", request))
    if api_error.status_code >= 500:
        log.error(
            "%s %s answered %s, request %s: %s",
            request.method,
            request.path,
            api_error.status_code,
            request_id,
            describe_error(error),
            exc_info=error if api_error.status_code == 500 else None,
        )
    return Response(api_error.body(request_id=request_id), status=api_error.status_code, headers=api_error.headers)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler400."""
    return _answer(request, to_api_error(exception), otherwise=400)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler403."""
    return _answer(request, to_api_error(exception), otherwise=403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's handler404."""
    if isinstance(exception, Resolver404) and request.path.startswith(API_PREFIX):
        return _answer(request, ApiError("not_found", NO_ENDPOINT, status=404), otherwise=404)
    return _answer(request, to_api_error(exception), otherwise=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500, called while the exception is being handled. An unreachable database becomes a 503."""
    return _answer(request, to_api_error(sys.exc_info()[1] or RuntimeError()), otherwise=500)


def _answer(request: HttpRequest, api_error: ApiError, *, otherwise: int) -> HttpResponse:
    """JSON where programs call, a page elsewhere. `otherwise` is the page for a status without one of its own."""
    if request.path.startswith(JSON_PREFIXES):
        body = api_error.body(request_id=request_id_of(request))
        return JsonResponse(body, status=api_error.status_code, headers=api_error.headers)
    page = api_error.status_code if api_error.status_code in TEMPLATES else otherwise
    response = render(request, f"{page}.html", status=api_error.status_code)
    for name, value in api_error.headers.items():
        response[name] = value
    return response
