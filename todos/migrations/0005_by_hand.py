from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("todos", "0004_notice_member"),
    ]

    operations = [
        migrations.AddField(
            model_name="todo",
            name="taken_by",
            field=models.UUIDField(
                blank=True, help_text="the member or API key that carries it out by hand", null=True
            ),
        ),
        migrations.AddField(
            model_name="todo",
            name="taker",
            field=models.CharField(blank=True, help_text="who carries it out by hand, in words", max_length=120),
        ),
    ]
