"""Calls from a browser: the offer and the answer of its audio."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0021_messengers"),
    ]

    operations = [
        migrations.AddField(
            model_name="call",
            name="answer",
            field=models.TextField(blank=True, default=""),
        ),
        migrations.AddField(
            model_name="call",
            name="connected_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name="call",
            name="offer",
            field=models.TextField(blank=True, default=""),
        ),
    ]
