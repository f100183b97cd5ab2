"""URLs of bookings and resources."""

from __future__ import annotations

from django.urls import path

from console.bookings import bookings, customer, resources
from console.bookings.export import BOOKINGS
from console.csv_export import csv_view

HERE = "p/<slug:project_slug>"

urlpatterns = [
    path("b/<str:token>", customer.own_booking, name="own_booking"),
    path(f"{HERE}/bookings", bookings.bookings, name="bookings"),
    path(f"{HERE}/bookings.csv", csv_view(BOOKINGS), name="bookings_csv"),
    path(f"{HERE}/bookings/<uuid:booking_id>", bookings.booking, name="booking"),
    path(f"{HERE}/bookings/<uuid:booking_id>/cancel", bookings.cancel_booking, name="booking_cancel"),
    path(f"{HERE}/resources", resources.resources, name="resources"),
    path(f"{HERE}/resources/<uuid:resource_id>", resources.change, name="resource_change"),
    path(f"{HERE}/resources/<uuid:resource_id>/remove", resources.remove, name="resource_remove"),
]
