"""The scope of owners."""

from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models

from projects.models.key import Scope


class Migration(migrations.Migration):
    dependencies = [("projects", "0011_changed_limits")]

    operations = [
        migrations.AlterField(
            "apikey", "scopes", ArrayField(models.CharField(choices=Scope.choices, max_length=10), size=None)
        ),
    ]
