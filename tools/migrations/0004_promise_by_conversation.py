from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tools", "0003_event_subscriptions")]

    operations = [
        migrations.AddIndex(
            "promise",
            models.Index(fields=["organization", "conversation_id", "-created_at"], name="promise_conversation"),
        ),
    ]
