"""The origin of messages on their way to a messenger."""

from django.db import migrations, models

ORIGINS = [
    ("commitment", "A commitment of the agent's, found after its reply"),
    ("turn", "A call inside the turn"),
    ("live", "A call inside a live conversation"),
    ("todo", "A todo that staff approved"),
    ("book", "A change in the booking book"),
    ("event", "An event sent to the conversation through the API"),
    ("staff", "A message that staff wrote"),
    ("channel", "A message on its way to a messenger"),
]


class Migration(migrations.Migration):
    dependencies = [("tools", "0011_budgets")]

    operations = [
        migrations.AlterField(
            model_name="effect",
            name="origin",
            field=models.CharField(choices=ORIGINS, default="commitment", max_length=12),
        ),
    ]
