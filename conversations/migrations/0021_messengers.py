"""Chats of messengers, what their providers delivered, and receipts."""

import django.db.models.deletion
from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table
from tenancy.tenant_models import TenantForeignKey

CASCADE = django.db.models.deletion.CASCADE
RESULTS = [
    ("answered", "Answered"),
    ("stored", "Stored"),
    ("keyword", "Keyword"),
    ("receipt", "Receipt"),
    ("ignored", "Ignored"),
    ("refused", "Refused"),
]
STATES = [
    ("accepted", "Accepted"),
    ("sent", "Sent"),
    ("delivered", "Delivered"),
    ("read", "Read"),
    ("failed", "Failed"),
    ("unknown", "Unknown"),
]
PROJECT, CONVERSATION, MESSAGE = (
    {"project_id": "projects_project"},
    {"conversation_id": "conversations_conversation"},
    {"message_id": "conversations_message"},
)


def key(to: str, name: str, **options: object) -> TenantForeignKey:
    return TenantForeignKey(on_delete=CASCADE, related_name=name, to=to, **options)


def account_fields() -> list[tuple[str, models.Field]]:
    return [
        ("kind", models.CharField(max_length=20)),
        ("account", models.CharField(max_length=100)),
        ("external_id", models.CharField(max_length=200)),
    ]


class Migration(migrations.Migration):
    dependencies = [
        ("conversations", "0020_calls"),
        ("projects", "0011_changed_limits"),
        ("tools", "0012_channel_origin"),
    ]

    operations = [
        migrations.CreateModel(
            name="Chat",
            fields=[
                ID,
                *account_fields(),
                ("opted_out_at", models.DateTimeField(null=True)),
                ("heard_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("conversation", key("conversations.conversation", "chats", null=True)),
                ("project", key("projects.project", "chats", db_index=False)),
                ORGANIZATION,
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "project", "kind", "account", "external_id"),
                        name="one_chat_per_external_id",
                    )
                ]
            },
        ),
        migrations.CreateModel(
            name="Delivery",
            fields=[
                ID,
                *account_fields(),
                ("message_ref", models.CharField(blank=True, max_length=200)),
                ("result", models.CharField(choices=RESULTS, max_length=10)),
                ("detail", models.CharField(blank=True, max_length=300)),
                ("body", models.JSONField(default=dict)),
                ("sent_at", models.DateTimeField(null=True)),
                ("received_at", models.DateTimeField(auto_now_add=True)),
                ("conversation", key("conversations.conversation", "deliveries", null=True)),
                ("message", key("conversations.message", "deliveries", null=True)),
                ("project", key("projects.project", "deliveries", db_index=False)),
                ORGANIZATION,
            ],
            options={
                "ordering": ["-received_at"],
                "indexes": [
                    models.Index(fields=["organization", "project", "kind", "-received_at"], name="delivery_recent"),
                    models.Index(
                        condition=models.Q(("message_ref", ""), _negated=True),
                        fields=["organization", "conversation", "message_ref"],
                        name="delivery_message_ref",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "project", "kind", "account", "external_id"),
                        name="one_delivery_per_external_id",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Receipt",
            fields=[
                ID,
                ("part", models.PositiveSmallIntegerField(default=0)),
                ("external_id", models.CharField(blank=True, max_length=200)),
                ("state", models.CharField(choices=STATES, default="accepted", max_length=10)),
                ("reason", models.CharField(blank=True, max_length=300)),
                ("accepted_at", models.DateTimeField(auto_now_add=True)),
                ("sent_at", models.DateTimeField(null=True)),
                ("delivered_at", models.DateTimeField(null=True)),
                ("read_at", models.DateTimeField(null=True)),
                ("failed_at", models.DateTimeField(null=True)),
                ("chat", key("conversations.chat", "receipts")),
                ("conversation", key("conversations.conversation", "receipts")),
                ("effect", key("tools.effect", "receipts", null=True, db_index=False)),
                ("message", key("conversations.message", "receipts", db_index=False)),
                ORGANIZATION,
            ],
            options={
                "ordering": ["message_id", "part"],
                "indexes": [
                    models.Index(fields=["organization", "effect"], name="receipt_effect"),
                    models.Index(
                        condition=models.Q(("external_id", ""), _negated=True),
                        fields=["organization", "external_id"],
                        name="receipt_external",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "message", "part"), name="one_receipt_per_part")
                ],
            },
        ),
        migrations.CreateModel(
            name="ChannelLink",
            fields=[
                ID,
                ("kind", models.CharField(max_length=20)),
                ("account", models.CharField(max_length=100)),
                ("name", models.CharField(blank=True, max_length=200)),
                ("problem", models.CharField(blank=True, max_length=300)),
                ("connected_at", models.DateTimeField(null=True)),
                ("tried_at", models.DateTimeField(auto_now=True)),
                ("project", key("projects.project", "channel_links", db_index=False)),
                ORGANIZATION,
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("organization", "project", "kind"), name="one_channel_link_per_kind"
                    )
                ]
            },
        ),
        tenant_table("conversations_chat", parents={**PROJECT, **CONVERSATION}),
        tenant_table("conversations_delivery", parents={**PROJECT, **CONVERSATION, **MESSAGE}, referenced=False),
        tenant_table(
            "conversations_receipt",
            parents={"chat_id": "conversations_chat", "effect_id": "tools_effect", **CONVERSATION, **MESSAGE},
            referenced=False,
        ),
        tenant_table("conversations_channellink", parents=PROJECT, referenced=False),
    ]
