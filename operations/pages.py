"""The operator's page, for superusers."""

from __future__ import annotations

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db import connections
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext

from operations.finding import worst
from operations.report import examine


def operation_page(request: HttpRequest) -> HttpResponse:
    """The report on the installation. Raises PermissionDenied for anyone but a superuser."""
    if not request.user.is_superuser:
        raise PermissionDenied(gettext("Only superusers may see the state of the installation."))
    # Workers and the certificate are asked over the network.
    connections.close_all()
    sections = examine()
    context = {
        **admin.site.each_context(request),
        "title": gettext("Operation"),
        "sections": sections,
        "state": worst(sections),
        "examined_at": timezone.now(),
    }
    return TemplateResponse(request, "admin/operation.html", context)
