from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tools", "0009_promise_broken")]

    operations = [
        migrations.CreateModel(
            name="PlatformDefinition",
            fields=[
                ("name", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("category", models.CharField(blank=True, max_length=40)),
                ("description", models.TextField(help_text="{{business}}, {{agent}} and {{channel}} are filled in.")),
                (
                    "section",
                    models.TextField(blank=True, help_text="how a model is to use it, under ## Available Tools"),
                ),
                ("parameters", models.JSONField(blank=True, null=True)),
                ("seed", models.CharField(blank=True, editable=False, max_length=64)),
                ("updated_at", models.DateTimeField(auto_now=True)),
            ],
            options={
                "ordering": ["name"],
            },
        ),
        # The same for every tenant: read by all, written by the platform's people.
        migrations.RunSQL(
            "revoke insert, update, delete, truncate on tools_platformdefinition from mg_app", migrations.RunSQL.noop
        ),
    ]
