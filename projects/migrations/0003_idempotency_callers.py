from django.db import migrations, models


class Migration(migrations.Migration):
    """An Idempotency-Key belongs to its caller. Rows from before belong to nobody, and are deleted after a day."""

    dependencies = [("projects", "0002_organizations")]

    operations = [
        migrations.AddField(
            "idempotentrequest", "caller", models.CharField(max_length=80, db_default="", editable=False)
        ),
        migrations.RemoveConstraint("idempotentrequest", "one_idempotent_request"),
        migrations.AddConstraint(
            "idempotentrequest",
            models.UniqueConstraint(fields=("organization", "project", "caller", "key"), name="one_idempotent_request"),
        ),
    ]
