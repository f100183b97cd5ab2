"""The index of messages that count toward a project's limits."""

from django.db import migrations, models

from tenancy.online import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("tools", "0009_reference_indexes")]

    operations = [
        AddIndexOnline(
            "effect",
            models.Index(
                condition=models.Q(("kind__in", ["sms", "email", "verification_code"])),
                fields=["organization", "project_id", "kind", "-started_at"],
                name="effect_message",
            ),
        ),
    ]
