"""URLs of customers' pages."""

from __future__ import annotations

from django.urls import path

from console.customers import privacy, views

HERE = "p/<slug:project_slug>/people"

urlpatterns = [
    path(HERE, views.people, name="people"),
    path(f"{HERE}/<uuid:persona_id>", views.person, name="person"),
    path(f"{HERE}/<uuid:persona_id>/export", privacy.export_person, name="export_person"),
    path(f"{HERE}/<uuid:persona_id>/erase", privacy.erase_person, name="erase_person"),
    path(f"{HERE}/<uuid:persona_id>/merge", views.merge, name="merge_person"),
]
