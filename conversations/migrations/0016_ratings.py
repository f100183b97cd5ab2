"""Customers' ratings of conversations."""

from django.db import migrations, models

EVENT_TYPES = [
    ("message", "A message"),
    ("turn", "A turn changed"),
    ("tool_call", "A tool was called inside the turn"),
    ("block", "Something to be shown in place of words"),
    ("directives", "New directives"),
    ("effect", "An effect changed"),
    ("waiting", "Waiting began or ended"),
    ("error", "Something went wrong"),
    ("done", "A turn's reply is complete"),
    ("over", "The conversation is over, or goes on"),
    ("system", "A system event"),
]


class Migration(migrations.Migration):
    dependencies = [("conversations", "0015_erased_customers")]

    operations = [
        migrations.AddField("conversation", "rating", models.PositiveSmallIntegerField(null=True)),
        migrations.AddField(
            "conversation", "rating_comment", models.CharField(blank=True, db_default="", default="", max_length=1000)
        ),
        migrations.AddField("conversation", "rated_at", models.DateTimeField(null=True)),
        migrations.AddField("conversation", "rated_to", models.PositiveIntegerField(db_default=0, default=0)),
        migrations.AlterField("event", "type", models.CharField(choices=EVENT_TYPES, default="system", max_length=12)),
    ]
