import django.db.models.deletion
from django.db import migrations, models

import tenancy.ids
import tenancy.scope
import tenancy.tenant_models
from tenancy.rls import tenant_table


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0002_organizations"),
        ("tools", "0002_promise_evidence"),
    ]

    operations = [
        migrations.AddField(
            model_name="effect",
            name="acknowledged_at",
            field=models.DateTimeField(help_text="when the subscriber of its event acknowledged it", null=True),
        ),
        migrations.AlterField(
            model_name="effect",
            name="origin",
            field=models.CharField(
                choices=[
                    ("commitment", "A commitment of the agent's, found after its reply"),
                    ("turn", "A call inside the turn"),
                    ("live", "A call inside a live conversation"),
                    ("todo", "A todo that staff approved"),
                    ("book", "A change in the booking book"),
                    ("event", "An event sent to the conversation through the API"),
                ],
                default="commitment",
                max_length=12,
            ),
        ),
        migrations.CreateModel(
            name="EventSubscription",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                (
                    "target",
                    models.CharField(
                        choices=[
                            ("endpoint", "Endpoint: a signed POST to its URL"),
                            (
                                "stream",
                                "Stream: a client reads the conversation's stream and acknowledges over the API",
                            ),
                        ],
                        default="endpoint",
                        max_length=10,
                    ),
                ),
                ("url", models.CharField(blank=True, max_length=2000)),
                ("events", models.JSONField(blank=True, default=list)),
                ("is_enabled", models.BooleanField(default=True)),
                ("secrets", models.TextField(blank=True, editable=False)),
                ("last_event", models.CharField(blank=True, max_length=120)),
                (
                    "last_state",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("acknowledged", "Acknowledged"),
                            ("accepted", "Accepted: to be acknowledged later"),
                            ("failed", "Failed"),
                        ],
                        max_length=12,
                    ),
                ),
                ("last_error", models.CharField(blank=True, max_length=500)),
                ("last_attempt_at", models.DateTimeField(null=True)),
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
                        related_name="event_subscriptions",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["created_at", "id"],
                "indexes": [
                    models.Index(fields=["organization", "project", "created_at"], name="event_subscription_project")
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("target", "stream"), ("url", "")),
                            models.Q(("target", "endpoint"), models.Q(("url", ""), _negated=True)),
                            _connector="OR",
                        ),
                        name="only_endpoint_has_url",
                    )
                ],
            },
        ),
        tenant_table("tools_eventsubscription", parents={"project_id": "projects_project"}),
    ]
