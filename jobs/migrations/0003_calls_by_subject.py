"""Model calls without a turn, by their subject."""

from django.db import migrations, models

from tenancy.online import AddIndexOnline


class Migration(migrations.Migration):
    # The indexes are built without blocking writes.
    atomic = False

    dependencies = [("jobs", "0002_model_call_budget")]

    operations = [
        AddIndexOnline(
            "modelcall",
            models.Index(
                condition=models.Q(subject_id__isnull=False, turn_id__isnull=True),
                fields=["organization", "subject_id"],
                name="call_subject",
            ),
        ),
    ]
