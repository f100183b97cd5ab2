"""The time that the agent named for a promise. Promises in the same words for two times are two."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tools", "0015_receipt_indexes")]

    operations = [
        migrations.AddField(
            model_name="promise",
            name="promised_for",
            field=models.DateTimeField(help_text="the time that the agent named, if it named a clear one", null=True),
        ),
    ]
