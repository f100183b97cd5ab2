"""Bookings and resources in the admin."""

from __future__ import annotations

from typing import cast
from uuid import UUID

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext

from projects.admin.tenant_admin import TenantAdmin
from projects.common.translation import lazy
from tenancy.scope import tenant_tx
from tools.models import Booking, Resource
from tools.services.bookings.refusals import BookingOver
from tools.services.bookings.services import cancel


@admin.register(Resource)
class ResourceAdmin(TenantAdmin):
    list_display = ("name", "kind", "capacity", "slot_minutes", "is_active", "project")
    list_filter = ("kind", "is_active")
    list_select_related = ("project",)
    search_fields = ("=id", "name")
    writable = ("is_active",)


@admin.register(Booking)
class BookingAdmin(TenantAdmin):
    list_display = ("code", "resource", "starts_at", "party_size", "name", "state", "cancelled_by", "created_at")
    list_filter = ("state", "kind")
    list_select_related = ("resource",)
    search_fields = ("=id", "=code", "=phone", "=conversation_id", "name")
    date_hierarchy = "starts_at"
    actions = ("cancel",)

    @admin.action(description=lazy("Cancel the selected bookings"))
    def cancel(self, request: HttpRequest, bookings: QuerySet[Booking]) -> None:
        """Cancel each booking in a transaction of its tenant, so that one refusal does not stop the others."""
        refused = [reason for booking in bookings if (reason := _refusal(booking))]
        messages.success(
            request,
            gettext("%(count)s of %(all)s bookings canceled.")
            % {"count": len(bookings) - len(refused), "all": len(bookings)},
        )
        for reason in sorted(set(refused)):
            messages.warning(
                request, gettext("%(count)s refused: %(reason)s") % {"count": refused.count(reason), "reason": reason}
            )


def _refusal(booking: Booking) -> str:
    """Return why the booking was not canceled, or ""."""
    try:
        with tenant_tx(cast(UUID, booking.organization_id)):
            cancel(booking, by="staff", now=timezone.now())
    except BookingOver as error:
        return error.message
    return ""
