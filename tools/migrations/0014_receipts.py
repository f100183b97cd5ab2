"""Receipts of effects, and promises whose message is on its way."""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

EVIDENCE = [
    ("", "None"),
    ("effect", "Effect: a tool did it"),
    ("acknowledged", "Acknowledged: a subscriber of the event took it on"),
    ("delivered", "Delivered: the channel sent a receipt"),
    ("person", "Person: somebody says that it happened"),
    ("outbox", "Outbox: the message is written and was not sent"),
    ("sent", "Sent: the message is on its way, and its receipt is awaited"),
]
STATES = [
    ("accepted", "Accepted"),
    ("sent", "Sent"),
    ("delivered", "Delivered"),
    ("read", "Read"),
    ("failed", "Failed"),
    ("unknown", "Unknown"),
]
KEPT = models.Q(("state", "kept"))
PROVEN = models.Q(("evidence__in", ("effect", "acknowledged", "delivered", "person")))
UNPROVEN = models.Q(("evidence__in", ("outbox", "", "sent")))


class Migration(migrations.Migration):
    dependencies = [("tools", "0013_deleted_cases")]

    operations = [
        migrations.AddField(
            "effect",
            "receipt",
            models.CharField(
                blank=True,
                choices=STATES,
                db_default="",
                default="",
                help_text="how far its message came, as the provider reports it; empty if it reports nothing",
                max_length=10,
            ),
        ),
        migrations.AddField(
            "effect",
            "receipt_ref",
            models.CharField(
                blank=True, db_default="", default="", help_text="the provider's id of the message", max_length=200
            ),
        ),
        migrations.AddField(
            "effect", "receipt_reason", models.CharField(blank=True, db_default="", default="", max_length=300)
        ),
        migrations.AddField(
            "effect", "receipt_at", models.DateTimeField(help_text="the time of the receipt's state", null=True)
        ),
        migrations.AddField(
            "effect",
            "receipt_due_at",
            models.DateTimeField(help_text="when a receipt that hasn't come becomes unknown", null=True),
        ),
        migrations.AlterField(
            "promise", "evidence", models.CharField(blank=True, choices=EVIDENCE, default="", max_length=12)
        ),
        migrations.RemoveConstraint("promise", "kept_by_evidence"),
        AddConstraintNotValid(
            "promise",
            models.CheckConstraint(condition=(KEPT & PROVEN) | (~KEPT & UNPROVEN), name="kept_by_evidence"),
        ),
    ]
