"""The developer tools of members, and single-key shortcuts of users."""

from django.db import migrations, models

from projects.models import AuditAction


class Migration(migrations.Migration):
    dependencies = [("projects", "0005_agent_drafts")]

    operations = [
        # Members who were there before keep every page they had.
        migrations.AddField("member", "developer_tools", models.BooleanField(default=True)),
        migrations.AlterField("member", "developer_tools", models.BooleanField(default=False)),
        migrations.AddField(
            "user",
            "single_keys",
            models.BooleanField(default=True, help_text="shortcuts of the console that are a single key"),
        ),
        migrations.AlterField("auditentry", "action", models.CharField(choices=AuditAction.choices, max_length=40)),
    ]
