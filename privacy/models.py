"""Erasures of customers, nightly deletions, and deletions of organizations."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class ErasureState(models.TextChoices):
    QUEUED = "queued", lazy("Queued")
    RUNNING = "running", lazy("Running: records are being removed")
    CALENDAR = (
        "calendar",
        lazy("Calendar: the records are gone, and events in the connected calendar are being rewritten"),
    )
    DONE = "done", lazy("Done")
    FAILED = "failed", lazy("Failed: staff may run its job again")


class Erasure(TenantModel):
    """The removal of everything about one customer. It names nobody.

    `personas` and `external_ids` are the identifiers of the customer and of those merged into them, until they are
    removed. `digests` are the SHA-256 of their ids, by which the same customers are recognized in an older backup.
    `bookings` are those whose events in a calendar are to be rewritten, `left` the addresses of events that could not be.
    `removed` counts records by their names in an export. `waits_for` says why it can't go on yet.
    """

    project = TenantForeignKey("projects.Project", related_name="erasures")
    state = models.CharField(max_length=8, choices=ErasureState.choices, default=ErasureState.QUEUED)
    personas = ArrayField(models.UUIDField(), default=list)
    external_ids = ArrayField(models.CharField(max_length=200), default=list)
    digests = ArrayField(models.CharField(max_length=64), default=list)
    bookings = ArrayField(models.UUIDField(), default=list)
    left = models.JSONField(default=list)
    removed = models.JSONField(default=dict)
    waits_for = models.CharField(max_length=300, blank=True)
    requested_by = models.CharField(max_length=400, help_text="the member or API key")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["organization", "project", "-id"], name="erasure_recent")]
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"erasure of {self.created_at:%Y-%m-%d %H:%M} ({self.state})"


class RetentionRun(TenantModel):
    """The nightly deletion of a project's old records: the run in progress, or the last one.

    `stage` is the kind of record being worked through, `cursors` how far each kind has been, and `removed` the number of
    records by kind. `error` names the reason why a step failed; it is tried again after `due_at`.
    """

    project = TenantForeignKey("projects.Project", related_name="retention_runs", db_index=False)
    due_at = models.DateTimeField()
    stage = models.CharField(max_length=12, blank=True)
    cursors = models.JSONField(default=dict)
    removed = models.JSONField(default=dict)
    error = models.CharField(max_length=80, blank=True)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "project"], name="one_retention_run")]
        indexes = [models.Index(fields=["due_at"], name="retention_due")]

    def __str__(self) -> str:
        return f"retention of {self.project_id}, due {self.due_at:%Y-%m-%d %H:%M}"


class OrganizationDeletion(TenantModel):
    """The requested deletion of the organization. It begins at `due_at`, and goes with the last rows."""

    due_at = models.DateTimeField()
    requested_by = models.CharField(max_length=400)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization"], name="one_deletion")]
        indexes = [models.Index(fields=["due_at"], name="deletion_due")]

    def __str__(self) -> str:
        return f"deletion, due {self.due_at:%Y-%m-%d %H:%M}"


class DeletedOrganization(models.Model):
    """The digest of a deleted organization's id. Of no tenant: it outlives the organization."""

    digest = models.CharField(max_length=64, primary_key=True)
    deleted_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.digest[:12]} ({self.deleted_at:%Y-%m-%d})"
