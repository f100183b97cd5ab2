"""Assignees, snoozes, closing and tags of conversations."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models
from django.db.models.functions import Lower

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import foreign_key, tenant_table
from tenancy.tenant_models import TenantForeignKey

CASCADE = django.db.models.deletion.CASCADE
COLORS = [("mute", "Gray"), ("act", "Blue"), ("ok", "Green"), ("warn", "Amber"), ("bad", "Red")]


# Its rows are checked by a later migration, which holds up no writes.
ASSIGNEE_KEY = """
alter table conversations_conversation add constraint conversations_conver_assignee_id_e845f644_fk_projects_
foreign key (assignee_id) references projects_user (id) deferrable initially deferred not valid
"""


def assignee(**options: bool) -> models.Field:
    return models.ForeignKey(
        db_index=False,
        null=True,
        on_delete=django.db.models.deletion.SET_NULL,
        related_name="+",
        to=settings.AUTH_USER_MODEL,
        **options,
    )


def own(**fields: object) -> TenantForeignKey:
    return TenantForeignKey(on_delete=CASCADE, **fields)


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0006_anonymous_visitors"),
        ("projects", "0003_idempotency_callers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("tools", "0006_ticket_answers"),
    ]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.AddField("conversation", "assignee", assignee(db_constraint=False)),
                migrations.RunSQL(ASSIGNEE_KEY, reverse_sql=migrations.RunSQL.noop),
            ],
            state_operations=[migrations.AddField("conversation", "assignee", assignee())],
        ),
        *(
            migrations.AddField("conversation", name, models.DateTimeField(null=True))
            for name in ("snoozed_until", "returned_at", "closed_at")
        ),
        migrations.CreateModel(
            name="Tag",
            fields=[
                ID,
                ("name", models.CharField(max_length=40)),
                ("color", models.CharField(choices=COLORS, default="mute", max_length=4)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ORGANIZATION,
                ("project", own(related_name="tags", to="projects.project")),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint("organization", "project", Lower("name"), name="one_tag_per_name")
                ],
            },
        ),
        tenant_table("conversations_tag", parents={"project_id": "projects_project"}),
        migrations.CreateModel(
            name="ConversationTag",
            fields=[
                ID,
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ORGANIZATION,
                ("conversation", own(db_index=False, related_name="tag_rows", to="conversations.conversation")),
                ("tag", own(db_index=False, related_name="uses", to="conversations.tag")),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=["organization", "conversation", "tag"], name="one_use_per_tag")
                ],
                "indexes": [models.Index(fields=["organization", "tag", "-conversation"], name="conversation_tagged")],
            },
        ),
        tenant_table(
            "conversations_conversationtag",
            parents={"conversation_id": "conversations_conversation", "tag_id": "conversations_tag"},
            referenced=False,
        ),
        foreign_key("tools_ticketanswer", "message_id", "conversations_message", cascade=True),
    ]
