"""The number or address of a chat's customer."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0024_call_usage")]

    operations = [
        migrations.AddField("chat", "contact", models.CharField(blank=True, default="", max_length=254)),
        migrations.AddIndex(
            "chat",
            models.Index(
                condition=models.Q(("contact", ""), _negated=True),
                fields=["organization", "project", "contact"],
                name="chat_contact",
            ),
        ),
    ]
