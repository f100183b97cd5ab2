"""A short title of a todo, apart from its task."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("todos", "0001_initial")]

    operations = [
        migrations.AddField("todo", "title", models.CharField(blank=True, db_default="", default="", max_length=60)),
    ]
