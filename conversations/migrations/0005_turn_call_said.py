"""What a customer may read of a call's result, apart from what the model reads."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0004_consent_changes")]

    operations = [
        migrations.AddField("turncall", "said", models.TextField(blank=True, db_default="")),
    ]
