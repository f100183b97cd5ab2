from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("todos", "0002_walls"),
    ]

    operations = [
        migrations.AddField(
            model_name="approval",
            name="key_id",
            field=models.UUIDField(help_text="the API key that did it, if one did", null=True),
        ),
        migrations.AddField(
            model_name="todo",
            name="repeats",
            field=models.JSONField(
                blank=True, default=list, help_text="effects of earlier runs to be done once more (T11)"
            ),
        ),
    ]
