"""Deletions of organizations."""

from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table


class Migration(migrations.Migration):
    dependencies = [("privacy", "0002_retention")]

    operations = [
        migrations.CreateModel(
            name="OrganizationDeletion",
            fields=[
                ID,
                ("due_at", models.DateTimeField()),
                ("requested_by", models.CharField(max_length=400)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ORGANIZATION,
            ],
            options={
                "indexes": [models.Index(fields=["due_at"], name="deletion_due")],
                "constraints": [models.UniqueConstraint(fields=("organization",), name="one_deletion")],
            },
        ),
        tenant_table("privacy_organizationdeletion", referenced=False),
        migrations.CreateModel(
            name="DeletedOrganization",
            fields=[
                ("digest", models.CharField(max_length=64, primary_key=True, serialize=False)),
                ("deleted_at", models.DateTimeField()),
            ],
        ),
        migrations.RunSQL(
            "revoke all on privacy_deletedorganization from mg_app",
            reverse_sql=migrations.RunSQL.noop,
        ),
    ]
