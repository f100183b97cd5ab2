"""The view of the OpenAPI document, which is built once per process."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from threading import Lock
from typing import Any, cast

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.cache import get_conditional_response
from django.views.decorators.cache import cache_control
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer, OpenApiYamlRenderer
from rest_framework.renderers import BaseRenderer

_build_lock = Lock()
_rendered: dict[type[BaseRenderer], Rendered] = {}


@dataclass(frozen=True)
class Rendered:
    """The document in one format, ready to send."""

    content: bytes
    etag: str


@require_safe
@cache_control(public=True, max_age=60)
@vary_on_headers("Accept")
def schema(request: HttpRequest) -> HttpResponseBase:
    """The document as YAML, or as JSON if `?format=` or `Accept` asks for it. Supports conditional requests.

    The view is public, and building the document takes a few hundred milliseconds of CPU. Concurrent first requests
    wait for one build.
    """
    wanted = request.GET.get("format") or request.headers.get("Accept", "")
    renderer = OpenApiJsonRenderer if "json" in wanted else OpenApiYamlRenderer
    with _build_lock:
        rendered = _rendered.get(renderer) or _rendered.setdefault(renderer, _render(renderer))
    response = HttpResponse(rendered.content, content_type=renderer.media_type)
    response["ETag"] = rendered.etag
    response["Content-Disposition"] = f'inline; filename="makegood.{"json" if "json" in renderer.format else "yaml"}"'
    return get_conditional_response(request, etag=rendered.etag, response=response) or response


def read_document() -> dict[str, Any]:
    """The OpenAPI document. Building it takes a few hundred milliseconds of CPU."""
    return dict(SchemaGenerator().get_schema(request=None, public=True))  # type: ignore[no-untyped-call]


def _render(renderer: type[BaseRenderer]) -> Rendered:
    document = read_document()
    content = cast(bytes, renderer().render(document, renderer_context={}))
    return Rendered(content, f'"{hashlib.sha256(content).hexdigest()[:32]}"')
