"""E-mail as a channel, and how far a mailbox was read."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0027_archived_bytes"),
    ]

    operations = [
        migrations.AlterField(
            model_name="conversation",
            name="channel",
            field=models.CharField(
                choices=[
                    ("chat", "Chat"),
                    ("phone", "Phone"),
                    ("webcall", "Web call"),
                    ("telegram", "Telegram"),
                    ("whatsapp", "WhatsApp"),
                    ("sms", "SMS"),
                    ("email", "E-mail"),
                    ("portal", "Portal"),
                    ("api", "API"),
                ],
                max_length=10,
            ),
        ),
        migrations.AddField(
            model_name="channellink",
            name="cursor",
            field=models.JSONField(db_default={}, default=dict),
        ),
    ]
