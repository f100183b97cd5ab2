"""An index of test conversations, which every figure leaves out."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("conversations", "0001_initial")]

    operations = [
        migrations.AddIndex(
            "conversation",
            models.Index(
                fields=["organization", "project"],
                condition=models.Q(("metadata__playground", True)),
                name="conversation_test",
            ),
        ),
    ]
