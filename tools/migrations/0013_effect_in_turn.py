from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tools", "0012_verification")]

    operations = [
        migrations.AddIndex(
            model_name="effect",
            index=models.Index(
                condition=models.Q(("origin", "turn"), ("state__in", ["planned", "sending"])),
                fields=["created_at"],
                name="effect_in_turn",
            ),
        ),
    ]
