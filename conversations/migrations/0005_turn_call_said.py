"""The part of a call's result that a customer may read, apart from the part for the model."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0004_consent_changes")]

    operations = [
        migrations.AddField("turncall", "said", models.TextField(blank=True, db_default="")),
    ]
