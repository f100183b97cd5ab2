import django.db.models.deletion
from django.db import migrations, models

import tenancy.ids
import tenancy.scope
from tenancy.rls import tenant_table


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0007_source_walls"),
    ]

    operations = [
        migrations.CreateModel(
            name="AuditEntry",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
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
                    "action",
                    models.CharField(
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
                        ],
                        max_length=40,
                    ),
                ),
                ("actor", models.CharField(help_text="who did it: name and e-mail as they were", max_length=400)),
                (
                    "actor_id",
                    models.BigIntegerField(
                        help_text="the user who did it; none for a command of the server's", null=True
                    ),
                ),
                ("subject", models.CharField(help_text="what it was done to, in words", max_length=400)),
                (
                    "project_name",
                    models.CharField(blank=True, help_text="empty for what concerns them all", max_length=120),
                ),
                ("before", models.JSONField(default=dict)),
                ("after", models.JSONField(default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "verbose_name_plural": "audit entries",
                "ordering": ["-id"],
            },
        ),
        tenant_table("projects_auditentry", append_only=True),
    ]
