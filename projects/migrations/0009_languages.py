"""The language of users."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0008_restored")]

    operations = [
        migrations.AddField(
            "user",
            "language",
            models.CharField(
                blank=True, default="", help_text="of the interface; empty for the browser’s", max_length=8
            ),
        ),
        migrations.AddField(
            "user",
            "browser_language",
            models.CharField(
                blank=True, default="", editable=False, help_text="of the browser that last signed in", max_length=8
            ),
        ),
    ]
