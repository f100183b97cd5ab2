"""Personal data in the tables of this app (`tenancy.personal_data`)."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from privacy.models import Erasure, OrganizationDeletion, RetentionRun
from tenancy.personal_data import Fate, TableContents

TABLES = (
    TableContents(
        Erasure,
        gettext_noop("Erasures of customers. When one has ended, it names nobody"),
        fate=Fate.EMPTIED,
        customer=("personas", "external_ids"),
        staff=("requested_by",),
        other=("state", "digests", "bookings", "left", "removed", "waits_for"),
        emptied={"personas": [], "external_ids": []},
    ),
    TableContents(
        OrganizationDeletion, gettext_noop("The requested deletion of the organization"), staff=("requested_by",)
    ),
    TableContents(
        RetentionRun,
        gettext_noop("The nightly deletion of old records"),
        other=("stage", "cursors", "removed", "error"),
    ),
)
