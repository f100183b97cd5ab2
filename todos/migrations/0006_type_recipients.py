from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("todos", "0005_by_hand"),
    ]

    operations = [
        migrations.AddField(
            model_name="todotype",
            name="recipients",
            field=models.JSONField(blank=True, default=list, help_text="whom its todos write to that name nobody"),
        ),
    ]
