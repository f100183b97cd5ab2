"""The time of a browser's last digest."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("notices", "0005_push_message_notice")]

    operations = [migrations.AddField("pushsubscription", "digest_at", models.DateTimeField(null=True))]
