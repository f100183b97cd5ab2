"""A kind of notices: bad ratings by customers."""

from django.db import migrations, models

KINDS = [
    ("conversation_waits", "A customer asks for a person"),
    ("assigned", "A conversation is assigned to you"),
    ("mentioned", "A colleague mentions you in a note"),
    ("todo_to_review", "A todo needs approval"),
    ("todo_failed", "A todo failed or needs attention"),
    ("outcome_unknown", "The outcome of an effect is unknown"),
    ("promise_broken", "A promise was broken"),
    ("rated_badly", "A customer gave a bad rating"),
    ("limit", "A limit is nearly used up or reached"),
    ("reconnect", "An integration must be reconnected"),
]


class Migration(migrations.Migration):
    dependencies = [("notices", "0002_notices_by_object")]

    operations = [
        migrations.AlterField("notice", "kind", models.CharField(choices=KINDS, max_length=20)),
    ]
