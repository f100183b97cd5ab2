"""The reference of the API: in the console's shell for members, alone for everybody else."""

from __future__ import annotations

from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe

from console.api_docs.reference import read_reference
from console.layout import account_context
from projects.api.schema_view import read_document


@require_safe
def api_docs(request: HttpRequest) -> HttpResponse:
    """Every operation with its parameters and examples. Public, as the document is."""
    context = account_context(request) if request.user.is_authenticated else {}
    template = "api_docs/page.html" if context else "api_docs/public.html"
    return render(request, template, {**context, "reference": _reference()})


@cache
def _reference() -> SafeString:
    """The operations as HTML, rendered once per process: the document doesn't change while it runs."""
    return render_to_string(
        "api_docs/reference.html", {"groups": read_reference(read_document()), "base_url": settings.BASE_URL}
    )
