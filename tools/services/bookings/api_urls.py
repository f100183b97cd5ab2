"""URLs of bookings and resources under /api/v1/."""

from __future__ import annotations

from django.urls import path

from tools.services.bookings import api

urlpatterns = [
    path("bookings", api.Bookings.as_view()),
    path("bookings/free", api.FreeTimes.as_view()),
    path("bookings/<uuid:booking_id>", api.BookingDetail.as_view()),
    path("resources", api.Resources.as_view()),
    path("resources/<uuid:resource_id>", api.ResourceDetail.as_view()),
]
