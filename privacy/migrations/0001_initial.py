"""Erasures of customers."""

import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table
from tenancy.tenant_models import TenantForeignKey

CASCADE = django.db.models.deletion.CASCADE
STATES = [
    ("queued", "Queued"),
    ("running", "Running: records are being removed"),
    ("calendar", "Calendar: the records are gone, and events in the connected calendar are being rewritten"),
    ("done", "Done"),
    ("failed", "Failed: staff may run its job again"),
]


def array_of(field):
    return django.contrib.postgres.fields.ArrayField(base_field=field, default=list, size=None)


class Migration(migrations.Migration):
    initial = True

    dependencies = [("conversations", "0015_erased_customers"), ("projects", "0008_restored")]

    operations = [
        migrations.CreateModel(
            name="Erasure",
            fields=[
                ID,
                ("state", models.CharField(choices=STATES, default="queued", max_length=8)),
                ("personas", array_of(models.UUIDField())),
                ("external_ids", array_of(models.CharField(max_length=200))),
                ("digests", array_of(models.CharField(max_length=64))),
                ("bookings", array_of(models.UUIDField())),
                ("left", models.JSONField(default=list)),
                ("removed", models.JSONField(default=dict)),
                ("waits_for", models.CharField(blank=True, max_length=300)),
                ("requested_by", models.CharField(help_text="the member or API key", max_length=400)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("finished_at", models.DateTimeField(null=True)),
                ORGANIZATION,
                ("project", TenantForeignKey(on_delete=CASCADE, related_name="erasures", to="projects.project")),
            ],
            options={
                "ordering": ["-id"],
                "indexes": [models.Index(fields=["organization", "project", "-id"], name="erasure_recent")],
            },
        ),
        tenant_table("privacy_erasure", parents={"project_id": "projects_project"}, referenced=False),
    ]
