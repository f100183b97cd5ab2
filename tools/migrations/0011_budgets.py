"""Limits of a month, of turns, storage and open conversations, and those of a whole organization."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION
from tenancy.rls import tenant_table

SHARED = [
    ("model_month_cost", "Model cost a month"),
    ("model_month_tokens", "Model tokens a month"),
    ("turns", "Turns a minute"),
    ("storage", "Storage"),
    ("open_conversations", "Open conversations"),
]
LIMITS = [
    ("sms", "Text messages a day"),
    ("email", "E-mails a day"),
    ("verification_code", "Verification codes a day"),
    ("sms_visitors", "Text messages to anonymous visitors in ten minutes"),
    ("email_visitors", "E-mails to anonymous visitors in ten minutes"),
    ("model_cost", "Model cost a day"),
    ("model_tokens", "Model tokens a day"),
    *SHARED,
]
SET_NULL = django.db.models.deletion.SET_NULL


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0011_changed_limits"),
        ("tools", "0010_effect_message_index"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AlterField("limitalert", "limit", models.CharField(choices=LIMITS, max_length=20)),
        migrations.AddField("limitalert", "of_organization", models.BooleanField(db_default=False, default=False)),
        migrations.CreateModel(
            name="OrganizationLimit",
            fields=[
                ID,
                ("limit", models.CharField(choices=SHARED, max_length=20)),
                ("most", models.PositiveBigIntegerField()),
                ("set_at", models.DateTimeField(auto_now=True)),
                ORGANIZATION,
                (
                    "set_by",
                    models.ForeignKey(null=True, on_delete=SET_NULL, related_name="+", to=settings.AUTH_USER_MODEL),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "limit"), name="one_organization_limit")
                ],
            },
        ),
        migrations.CreateModel(
            name="OperatorLimit",
            fields=[
                ID,
                ("limit", models.CharField(choices=SHARED, max_length=20)),
                (
                    "most",
                    models.PositiveBigIntegerField(
                        help_text="in the unit of the limit: USD, tokens, turns, MB or conversations"
                    ),
                ),
                ("set_at", models.DateTimeField(auto_now=True)),
                ORGANIZATION,
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("organization", "limit"), name="one_operator_limit")],
            },
        ),
        tenant_table("tools_organizationlimit", referenced=False),
        tenant_table("tools_operatorlimit", referenced=False),
        # The operator writes as mg_ops, in the admin.
        migrations.RunSQL(
            "revoke insert, update, delete, truncate on tools_operatorlimit from mg_app",
            reverse_sql=migrations.RunSQL.noop,
        ),
    ]
