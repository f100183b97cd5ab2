"""Requests whose body is a file."""

from __future__ import annotations

from rest_framework.request import Request


def keep_body(request: Request) -> None:
    """Read the body and keep it as `body`, although it is longer than Django allows: `BodyLimit` has checked its size."""
    django_request = request._request
    vars(django_request).setdefault("_body", django_request.read())
