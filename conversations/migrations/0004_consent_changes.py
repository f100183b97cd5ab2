import django.db.models.deletion
from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table
from tenancy.tenant_models import TenantForeignKey

KINDS = [("sms", "Texts"), ("email", "E-mails"), ("call", "Calls"), ("recording", "Recordings")]
SOURCES = [
    ("customer", "the customer's words"),
    ("staff", "staff"),
    ("api", "the API"),
    ("channel", "the channel"),
]
CASCADE = django.db.models.deletion.CASCADE


class Migration(migrations.Migration):
    dependencies = [("conversations", "0003_conversation_fields"), ("projects", "0002_organizations")]

    operations = [
        migrations.CreateModel(
            name="ConsentChange",
            fields=[
                ID,
                ("kind", models.CharField(choices=KINDS, max_length=10)),
                ("is_given", models.BooleanField()),
                ("quote", models.CharField(blank=True, max_length=500)),
                ("source", models.CharField(choices=SOURCES, max_length=10)),
                ("conversation_id", models.UUIDField(null=True)),
                ("message_id", models.UUIDField(null=True)),
                ("recipient", models.CharField(blank=True, max_length=254)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ORGANIZATION,
                (
                    "persona",
                    TenantForeignKey(related_name="consent_changes", on_delete=CASCADE, to="conversations.persona"),
                ),
                ("project", TenantForeignKey(related_name="+", on_delete=CASCADE, to="projects.project")),
            ],
            options={
                "ordering": ["-created_at", "-id"],
                "indexes": [
                    models.Index(
                        fields=["organization", "project", "kind", "recipient", "-created_at"],
                        name="consent_of_recipient",
                    ),
                    models.Index(fields=["organization", "persona", "-created_at"], name="consent_of_persona"),
                ],
            },
        ),
        tenant_table(
            "conversations_consentchange",
            parents={"persona_id": "conversations_persona", "project_id": "projects_project"},
            append_only=True,
            referenced=False,
        ),
    ]
