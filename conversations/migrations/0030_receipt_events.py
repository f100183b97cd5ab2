"""Events that say how far a message came."""

from django.db import migrations, models

TYPES = [
    ("message", "A message"),
    ("turn", "A turn changed"),
    ("tool_call", "A tool was called inside the turn"),
    ("block", "Something to be shown in place of words"),
    ("directives", "New directives"),
    ("effect", "An effect changed"),
    ("receipt", "A message came further on its way"),
    ("waiting", "Waiting began or ended"),
    ("error", "Something went wrong"),
    ("done", "A turn's reply is complete"),
    ("over", "The conversation is over, or goes on"),
    ("system", "A system event"),
]


class Migration(migrations.Migration):
    dependencies = [("conversations", "0029_archive_search")]

    operations = [
        migrations.AlterField("event", "type", models.CharField(choices=TYPES, default="system", max_length=12)),
    ]
