from django.db import migrations, models

from tenancy.online import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False
    dependencies = [
        ("jobs", "0001_initial"),
    ]

    operations = [
        AddIndexOnline(
            model_name="modelcall",
            index=models.Index(
                condition=models.Q(("cost__isnull", True), ("cost__gt", 0), _connector="OR"),
                fields=["organization", "project", "started_at"],
                include=("cost", "input_tokens", "output_tokens"),
                name="call_budget",
            ),
        ),
    ]
