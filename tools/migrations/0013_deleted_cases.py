"""Deleted regression cases, which stay for a while so that they can be restored."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tools", "0012_channel_origin")]

    operations = [
        migrations.AddField(
            model_name="keptcase",
            name="deleted_at",
            field=models.DateTimeField(editable=False, null=True),
        ),
    ]
