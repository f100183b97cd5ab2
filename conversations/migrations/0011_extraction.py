from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0010_todo_walls"),
    ]

    operations = [
        migrations.AddField(
            model_name="conversation",
            name="extracted_to",
            field=models.PositiveIntegerField(default=0),
        ),
        migrations.AddIndex(
            model_name="conversation",
            index=models.Index(
                condition=models.Q(("extracted_to__lt", models.F("last_message")), ("follow_up_at__isnull", True)),
                fields=["updated_at"],
                name="conversation_silent",
            ),
        ),
    ]
