"""The indexes of awaited receipts, and the check of older promises against the wider law of evidence."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations, models

from tenancy.online import add_indexes_online


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("tools", "0014_receipts")]

    operations = [
        *add_indexes_online(
            "effect",
            models.Index(
                condition=models.Q(("receipt_ref", ""), _negated=True),
                fields=["organization", "receipt_ref"],
                name="effect_receipt_ref",
            ),
            models.Index(
                condition=models.Q(("receipt", "sent"), ("state", "done")),
                fields=["receipt_due_at"],
                name="effect_receipt_due",
            ),
        ),
        ValidateConstraint("promise", "kept_by_evidence"),
    ]
