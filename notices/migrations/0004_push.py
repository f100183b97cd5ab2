"""Browsers that take push messages, and the messages that wait for them."""

from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION, CreateTables
from tenancy.rls import combine, tenant_table
from tenancy.tenant_models import TenantForeignKey


def once(name: str, *fields: str) -> models.UniqueConstraint:
    return models.UniqueConstraint(fields=["organization", *fields], name=name)


class Migration(migrations.Migration):
    dependencies = [("notices", "0003_bad_ratings"), ("projects", "0012_owner_scope")]

    operations = [
        CreateTables(
            [
                migrations.CreateModel(
                    "PushSubscription",
                    fields=[
                        ID,
                        ("browser", models.CharField(max_length=64)),
                        ("name", models.CharField(max_length=60)),
                        ("secret", models.TextField()),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("sent_at", models.DateTimeField(null=True)),
                        ("error", models.CharField(blank=True, max_length=300)),
                        ("failures", models.PositiveSmallIntegerField(default=0)),
                        ("retry_at", models.DateTimeField(null=True)),
                        ORGANIZATION,
                        ("member", TenantForeignKey(related_name="push_subscriptions", to="projects.member")),
                    ],
                    options={"constraints": [once("one_push_subscription", "member", "browser")]},
                ),
                migrations.CreateModel(
                    "PushMessage",
                    fields=[
                        ID,
                        ("notice_id", models.UUIDField()),
                        ORGANIZATION,
                        ("subscription", TenantForeignKey(related_name="messages", to="notices.pushsubscription")),
                    ],
                    options={"constraints": [once("one_push_message", "subscription", "notice_id")]},
                ),
            ]
        ),
        combine(
            tenant_table("notices_pushsubscription", parents={"member_id": "projects_member"}),
            tenant_table(
                "notices_pushmessage", parents={"subscription_id": "notices_pushsubscription"}, referenced=False
            ),
        ),
    ]
