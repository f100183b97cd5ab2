from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0005_turn_call_said"),
    ]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="visitor",
            field=models.CharField(blank=True, db_default="", default="", max_length=16),
        ),
    ]
