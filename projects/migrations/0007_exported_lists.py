from django.db import migrations, models

from projects.models import AuditAction


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0006_developer_tools"),
    ]

    operations = [
        migrations.AlterField(
            model_name="auditentry",
            name="action",
            field=models.CharField(
                choices=AuditAction.choices,
                max_length=40,
            ),
        ),
    ]
