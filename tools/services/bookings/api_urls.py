"""URLs of bookings and resources under /api/v1/."""

from __future__ import annotations

from django.urls import path

from tools.services.bookings.api.bookings import BookingDetail, Bookings
from tools.services.bookings.api.free_times import FreeTimes
from tools.services.bookings.api.resources import ResourceDetail, Resources

urlpatterns = [
    path("bookings", Bookings.as_view()),
    path("bookings/free", FreeTimes.as_view()),
    path("bookings/<uuid:booking_id>", BookingDetail.as_view()),
    path("resources", Resources.as_view()),
    path("resources/<uuid:resource_id>", ResourceDetail.as_view()),
]
