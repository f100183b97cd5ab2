"""The texts of archived messages, for the search."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0028_email_channel")]

    operations = [
        migrations.AddField("archivedtranscript", "text", models.TextField(default="")),
        migrations.AddIndex("archivedtranscript", models.Index(fields=["organization", "id"], name="archive_newest")),
    ]
