"""URLs of the calls' page."""

from __future__ import annotations

from django.urls import path

from console.calls import views

HERE = "p/<slug:project_slug>/calls"

urlpatterns = [
    path(HERE, views.calls, name="calls"),
    path(f"{HERE}/<uuid:phone_call_id>/end", views.end, name="call_end"),
    path(f"{HERE}/<uuid:phone_call_id>/take-over", views.take_over, name="call_take_over"),
]
