"""URLs of the widget page."""

from __future__ import annotations

from django.urls import path

from console.widget.page import new_secret, widget_page

WIDGET = "p/<slug:project_slug>/widget"

urlpatterns = [
    path(WIDGET, widget_page, name="widget"),
    path(f"{WIDGET}/secret", new_secret, name="widget_secret"),
]
