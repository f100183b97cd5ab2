from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0004_lifted_limits"),
    ]

    operations = [
        migrations.AddField(
            model_name="agentversion",
            name="is_draft",
            field=models.BooleanField(db_default=False, default=False),
        ),
    ]
