"""The worker process that listens to a mailbox."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0031_delivered_files")]

    operations = [
        migrations.AddField("channellink", "watched_by", models.UUIDField(null=True)),
        migrations.AddField("channellink", "watched_until", models.DateTimeField(null=True)),
    ]
