from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("todos", "0006_type_recipients"),
    ]

    operations = [
        migrations.AlterField(
            model_name="todostep",
            name="started_at",
            field=models.DateTimeField(help_text="the database's time, as of all that follows"),
        ),
    ]
