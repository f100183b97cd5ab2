"""URLs of the simulated phone."""

from __future__ import annotations

from django.urls import path

from console.simulated_phone import views

HERE = "p/<slug:project_slug>/simulated-phone"

urlpatterns = [
    path(HERE, views.simulated_phone, name="simulated_phone"),
    path(f"{HERE}/connect", views.connect, name="simulated_phone_connect"),
    path(f"{HERE}/files/<uuid:file_id>", views.sent_file, name="simulated_phone_file"),
    path(f"{HERE}/act", views.act, name="simulated_phone_act"),
]
