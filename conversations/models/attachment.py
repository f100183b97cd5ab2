"""Files of messages: attached by staff, or sent by customers."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from tenancy.tenant_models import TenantForeignKey, TenantModel


class Attachment(TenantModel):
    """A file in a conversation. It is sent once it has a `message`; until then only staff knows of it.

    A visitor and a customer on their page upload before a conversation need exist. Their file waits in the `project` under
    the `external_id` of its `sender`, until the message that sends it gives it a `conversation`.

    `content_type` follows from the content, never from what the uploader said. `uploaded_by` is null for a file that the
    customer sent.

    The content is in the row, or else in the `object` of a storage (`conversations.files`). `sha256` is its digest in
    hexadecimal; files of earlier releases have none until their content moves.
    """

    conversation = TenantForeignKey("conversations.Conversation", null=True, related_name="attachments")
    project = TenantForeignKey("projects.Project", null=True, related_name="+", db_index=False)
    sender = models.CharField(max_length=200, blank=True, default="", db_default="")
    message = TenantForeignKey("conversations.Message", null=True, related_name="attachment_rows")
    uploaded_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    name = models.CharField(max_length=140)
    content_type = models.CharField(max_length=40)
    size = models.PositiveIntegerField()
    content = models.BinaryField(null=True)
    object = TenantForeignKey(
        "conversations.StoredObject", models.DO_NOTHING, null=True, related_name="+", db_index=False
    )
    sha256 = models.CharField(max_length=64, blank=True, default="", db_default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [
            # Files that were never sent, which the sweep deletes.
            models.Index(fields=["created_at"], condition=Q(message=None), name="attachment_unsent"),
            models.Index(
                fields=["organization", "project", "sender"],
                condition=Q(project__isnull=False),
                name="attachment_waiting",
            ),
            models.Index(fields=["object"], condition=Q(object__isnull=False), name="attachment_object"),
        ]

    def __str__(self) -> str:
        return self.name
