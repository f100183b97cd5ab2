"""Customers whose erasure was requested."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0014_reference_indexes")]

    operations = [migrations.AddField("persona", "erased_at", models.DateTimeField(editable=False, null=True))]
