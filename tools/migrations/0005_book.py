from django.db import migrations, models

from tenancy.rls import foreign_key


class Migration(migrations.Migration):
    dependencies = [("tools", "0004_promises_kept_walls")]

    operations = [
        migrations.AddField(
            model_name="booking",
            name="cancel_effect_id",
            field=models.UUIDField(null=True),
        ),
        migrations.AlterField(
            model_name="booking",
            name="kind",
            field=models.CharField(
                choices=[("booking", "Booking"), ("meeting", "Meeting")], default="booking", max_length=12
            ),
        ),
        migrations.AlterField(
            model_name="resource",
            name="kind",
            field=models.CharField(
                choices=[("table", "Table"), ("room", "Room"), ("person", "Person")], default="table", max_length=20
            ),
        ),
        migrations.AddConstraint(
            model_name="booking",
            constraint=models.UniqueConstraint(
                condition=models.Q(("cancel_effect_id__isnull", False)),
                fields=("organization", "cancel_effect_id"),
                name="one_cancelled_booking_per_effect",
            ),
        ),
        foreign_key("tools_booking", "effect_id", "tools_effect"),
        foreign_key("tools_booking", "cancel_effect_id", "tools_effect"),
    ]
