"""The bytes that a project stores, and the triggers that count its articles."""

from django.db import migrations, models  # noqa: I001

from tenancy.baseline import DENSE_ORGANIZATION, ID
from tenancy.rls import tenant_table
from projects.common.stored_bytes import ADD, count_bytes
from tenancy.tenant_models import TenantForeignKey

SIZE = "octet_length(row.title) + octet_length(row.excerpt) + octet_length(row.body)"


class Migration(migrations.Migration):
    dependencies = [("projects", "0009_languages")]

    operations = [
        migrations.CreateModel(
            name="StoredBytes",
            fields=[
                ID,
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("messages", "Messages"),
                            ("attachments", "Attachments"),
                            ("articles", "Knowledge"),
                        ],
                        max_length=12,
                    ),
                ),
                ("slot", models.PositiveSmallIntegerField()),
                ("bytes", models.BigIntegerField()),
                DENSE_ORGANIZATION,
                (
                    "project",
                    TenantForeignKey(on_delete=models.CASCADE, related_name="+", to="projects.project", db_index=False),
                ),
            ],
            options={
                "verbose_name_plural": "stored bytes",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "project", "kind", "slot"), name="one_storage_per_slot"
                    )
                ],
            },
        ),
        tenant_table("projects_storedbytes", parents={"project_id": "projects_project"}, referenced=False),
        migrations.RunSQL(
            ["alter table projects_storedbytes set (fillfactor = 50)", ADD],
            reverse_sql="drop function add_stored_bytes(uuid, uuid, text, bigint)",
        ),
        count_bytes("projects_article", kind="articles", project="row.project_id", size=SIZE),
    ]
