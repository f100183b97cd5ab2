"""Effects whose customer was erased, and verdicts without a second index and key of their organization."""

import django.db.models.deletion
from django.db import migrations, models

from tenancy.scope import current_organization_id


class Migration(migrations.Migration):
    dependencies = [("tools", "0007_evaluation_runs")]

    operations = [
        migrations.AddField(
            "effect",
            "erased_at",
            models.DateTimeField(help_text="when everything about its customer was removed", null=True),
        ),
        migrations.AlterField(
            "verdict",
            "organization",
            models.ForeignKey(
                db_constraint=False,
                db_index=False,
                default=current_organization_id,
                editable=False,
                on_delete=django.db.models.deletion.CASCADE,
                related_name="+",
                to="projects.organization",
            ),
        ),
    ]
