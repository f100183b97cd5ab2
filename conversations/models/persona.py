"""Customers and the fields known about them."""

from __future__ import annotations

from django.db import models

from projects.common.translation import lazy
from tenancy.tenant_models import TenantForeignKey, TenantModel


class Persona(TenantModel):
    """A customer of a project. `external_id` is the API caller's own identifier for them.

    `flagged` and `flag_reason` are an agent's note for staff about this customer; prompts never include them.
    `merged_into` is set once the customer was merged into another. The row stays, so that its id and `external_id` still
    lead to the other customer; what lost against the other's values stays with it. It never names a merged customer.
    `erased_at` is set once an erasure was requested: from then on nobody finds the customer, and a job removes the rows.
    """

    project = TenantForeignKey("projects.Project", related_name="personas")
    external_id = models.CharField(max_length=200)
    flagged = models.BooleanField(default=False)
    flag_reason = models.CharField(max_length=300, blank=True)
    merged_into = TenantForeignKey(
        "conversations.Persona", models.PROTECT, null=True, blank=True, related_name="absorbed", db_index=False
    )
    created_at = models.DateTimeField(auto_now_add=True)
    erased_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "project", "external_id"], name="one_persona")]
        indexes = [
            models.Index(
                fields=["organization", "project", "-id"],
                condition=models.Q(merged_into__isnull=True),
                name="persona_newest",
            ),
            models.Index(
                fields=["organization", "merged_into"],
                condition=models.Q(merged_into__isnull=False),
                name="persona_merged",
            ),
        ]

    def __str__(self) -> str:
        return self.external_id


class Strength(models.IntegerChoices):
    """Confidence in a field's value. A weaker value never replaces a stronger one."""

    INFERRED = 1, lazy("Inferred: it follows from what was said")
    STATED = 2, lazy("Stated: the customer said it")
    GIVEN = 3, lazy("Given: staff or the API set it")


class PersonaField(TenantModel):
    """One field of a customer, with the message and the quote it was taken from.

    `conversation` is set for a field of one conversation, such as the day of a visit; null for one of the customer.
    """

    persona = TenantForeignKey(Persona, related_name="fields")
    conversation = TenantForeignKey(
        "conversations.Conversation", null=True, blank=True, related_name="fields", db_index=False
    )
    key = models.CharField(max_length=40)
    value = models.CharField(max_length=500)
    strength = models.PositiveSmallIntegerField(choices=Strength.choices)
    quote = models.CharField(max_length=500, blank=True)
    message_id = models.UUIDField(null=True)
    turn_id = models.UUIDField(null=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "persona", "key", "conversation"],
                nulls_distinct=False,
                name="one_field_per_scope",
            )
        ]
        indexes = [
            models.Index(fields=["organization", "turn_id"], name="persona_field_turn"),
            models.Index(
                fields=["organization", "conversation"],
                condition=models.Q(conversation__isnull=False),
                name="conversation_field",
            ),
        ]
        ordering = ["key"]

    def __str__(self) -> str:
        return f"{self.key}: {self.value}"
