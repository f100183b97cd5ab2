from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("tools", "0008_effect_unknown"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="promise",
            index=models.Index(condition=models.Q(("state", "broken")), fields=["closed_at"], name="promise_broken"),
        ),
    ]
