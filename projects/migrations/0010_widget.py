import django.contrib.postgres.fields
import django.db.models.deletion
from django.db import migrations, models

import projects.models.widget
import tenancy.ids
import tenancy.scope
import tenancy.tenant_models
from tenancy.rls import tenant_table


class Migration(migrations.Migration):
    dependencies = [("projects", "0009_article")]

    operations = [
        migrations.CreateModel(
            name="Widget",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "public_key",
                    models.CharField(
                        default=projects.models.widget.make_widget_key, editable=False, max_length=40, unique=True
                    ),
                ),
                (
                    "origins",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=255), blank=True, default=list, size=None
                    ),
                ),
                ("theme", models.JSONField(blank=True, default=dict)),
                ("shopper_secret", models.TextField(blank=True, editable=False)),
                ("is_enabled", models.BooleanField(default=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "organization",
                    models.ForeignKey(
                        default=tenancy.scope.current_organization_id,
                        editable=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="projects.organization",
                    ),
                ),
                (
                    "project",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="widgets",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "project"), name="one_widget_per_project")
                ],
            },
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="action",
            field=models.CharField(
                choices=[
                    ("invitation.sent", "invited"),
                    ("invitation.renewed", "invited again"),
                    ("invitation.revoked", "took back the invitation of"),
                    ("member.joined", "joined"),
                    ("member.added", "added"),
                    ("member.role", "gave another role to"),
                    ("member.removed", "removed"),
                    ("member.left", "left"),
                    ("key.made", "made the key"),
                    ("key.changed", "changed the key"),
                    ("key.revoked", "revoked the key"),
                    ("integration.connected", "connected"),
                    ("integration.changed", "changed the connection of"),
                    ("integration.disconnected", "disconnected"),
                    ("article.written", "wrote the article"),
                    ("article.changed", "changed the article"),
                    ("article.published", "published the article"),
                    ("article.unpublished", "took back the article"),
                    ("article.deleted", "deleted the article"),
                    ("widget.changed", "changed"),
                    ("widget.secret", "made a new shopper secret for"),
                ],
                max_length=40,
            ),
        ),
        tenant_table("projects_widget", parents={"project_id": "projects_project"}),
    ]
