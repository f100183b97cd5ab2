"""Tokens that a call's realtime model used."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0023_archive"),
    ]

    operations = [
        migrations.AddField(
            model_name="call",
            name="usage",
            field=models.JSONField(db_default=models.Value({}, models.JSONField()), default=dict),
        ),
    ]
