"""Contents of files that are kept outside of PostgreSQL."""

from __future__ import annotations

from typing import cast
from uuid import UUID, uuid4

from django.db import models
from django.db.models import Q

from tenancy.tenant_models import DenseTenantModel


class ObjectState(models.TextChoices):
    """The state of an object. `planned`: its content is still where it was. `kept`: an attachment's content is in it.
    `leaving`: nothing needs it any more.
    """

    PLANNED = "planned", "Planned"
    KEPT = "kept", "Kept"
    LEAVING = "leaving", "Leaving"


class StoredObject(DenseTenantModel):
    """An object in a storage. The row is stored before the object is written, and deleted after the object is.

    `place` is the storage's address without its query. `due_at` is when a worker writes or deletes the object; `attempts`
    counts the claims, and its value is the token of the worker that may write the result. `error` says why it failed.

    A trigger makes the objects of a deleted attachment leave. There is no foreign key to the attachment or the
    organization, because the row is what remains to be done when both are gone.
    """

    # Random: the id is the object's name.
    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    attachment_id = models.UUIDField()
    place = models.CharField(max_length=400)
    state = models.CharField(max_length=8, choices=ObjectState.choices, default=ObjectState.PLANNED)
    due_at = models.DateTimeField(null=True)
    attempts = models.PositiveIntegerField(default=0)
    error = models.CharField(max_length=300, blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            models.Index(fields=["organization", "attachment_id"], name="object_of_attachment"),
            models.Index(fields=["due_at"], condition=Q(due_at__isnull=False), name="object_due"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """The object's name in its place. It says nothing about the file."""
        return f"{cast(UUID, self.organization_id).hex}/{self.pk.hex}"
