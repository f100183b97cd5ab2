import django.db.models.deletion
import django.db.models.functions.text
from django.conf import settings
from django.db import migrations, models

import tenancy.ids
import tenancy.scope
from tenancy.rls import tenant_table


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0004_admin_history"),
    ]

    operations = [
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("email", models.EmailField(max_length=254, verbose_name="e-mail")),
                (
                    "role",
                    models.CharField(
                        choices=[
                            ("owner", "Owner: everything, and who the owners are"),
                            ("admin", "Admin: configures agents, members and keys"),
                            ("operator", "Operator: talks, approves and resolves"),
                            ("viewer", "Viewer: looks"),
                        ],
                        max_length=10,
                    ),
                ),
                ("digest", models.CharField(editable=False, max_length=64, unique=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("expires_at", models.DateTimeField(editable=False)),
                ("emailed_at", models.DateTimeField(editable=False, null=True)),
                ("accepted_at", models.DateTimeField(editable=False, null=True)),
                ("revoked_at", models.DateTimeField(editable=False, null=True)),
                (
                    "invited_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
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
            ],
            options={
                "ordering": ["-created_at"],
                "constraints": [
                    models.UniqueConstraint(
                        models.F("organization"),
                        django.db.models.functions.text.Lower("email"),
                        condition=models.Q(("accepted_at", None), ("revoked_at", None)),
                        name="one_open_invitation",
                    )
                ],
            },
        ),
        tenant_table("projects_invitation"),
    ]
