from django.db import migrations, models

ORIGINS = [
    ("commitment", "A commitment of the agent's, found after its reply"),
    ("turn", "A call inside the turn"),
    ("live", "A call inside a live conversation"),
    ("todo", "A todo that staff approved"),
    ("book", "A change in the booking book"),
]


class Migration(migrations.Migration):
    dependencies = [("tools", "0013_effect_in_turn")]

    operations = [
        migrations.AddField(
            model_name="booking",
            name="calendar_effect_id",
            field=models.UUIDField(help_text="what last told the connected calendar of it", null=True),
        ),
        migrations.AddField(
            model_name="booking",
            name="calendar_url",
            field=models.CharField(blank=True, help_text="where its event stands, if it does", max_length=2200),
        ),
        migrations.AlterField(
            model_name="effect",
            name="origin",
            field=models.CharField(choices=ORIGINS, default="commitment", max_length=12),
        ),
    ]
