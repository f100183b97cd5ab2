"""The pause that a provider's limit imposes on an account."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0025_chat_contact")]

    operations = [
        migrations.AddField("channellink", "paused_until", models.DateTimeField(null=True)),
        migrations.AddField("channellink", "next_at", models.DateTimeField(null=True)),
    ]
