from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION, CreateTables
from tenancy.rls import combine, tenant_table
from tenancy.tenant_models import TenantForeignKey

KINDS = [
    ("conversation_waits", "A customer asks for a person"),
    ("assigned", "A conversation is assigned to you"),
    ("mentioned", "A colleague mentions you in a note"),
    ("todo_to_review", "A todo needs approval"),
    ("todo_failed", "A todo failed or needs attention"),
    ("outcome_unknown", "The outcome of an effect is unknown"),
    ("promise_broken", "A promise was broken"),
    ("limit", "A limit is half used or reached"),
    ("reconnect", "An integration must be reconnected"),
]
STATES = [
    ("", "Not wanted"),
    ("due", "Due"),
    ("sending", "Sending"),
    ("sent", "Sent"),
    ("failed", "Refused"),
    ("unknown", "Unknown: it is not sent again"),
]
FREQUENCIES = [("at_once", "At once"), ("hourly", "At most hourly"), ("daily", "At most daily")]
PARENTS = {"project_id": "projects_project", "member_id": "projects_member"}


def state() -> models.CharField:
    return models.CharField(blank=True, choices=STATES, default="", max_length=8)


def once(name: str, *fields: str) -> models.UniqueConstraint:
    return models.UniqueConstraint(fields=["organization", *fields], name=name)


class Migration(migrations.Migration):
    initial = True

    dependencies = [("projects", "0004_lifted_limits")]

    operations = [
        CreateTables(
            [
                migrations.CreateModel(
                    "Notice",
                    fields=[
                        ID,
                        ("kind", models.CharField(choices=KINDS, max_length=20)),
                        ("subject", models.CharField(max_length=80)),
                        ("object_id", models.UUIDField(null=True)),
                        ("text", models.CharField(max_length=200)),
                        ("in_bell", models.BooleanField(default=True)),
                        *((way, state()) for way in ("browser", "email", "slack")),
                        ("created_at", models.DateTimeField()),
                        ("read_at", models.DateTimeField(null=True)),
                        ORGANIZATION,
                        ("member", TenantForeignKey(related_name="notices", to="projects.member")),
                        ("project", TenantForeignKey(related_name="notices", to="projects.project")),
                    ],
                    options={
                        "ordering": ["-created_at", "-id"],
                        "indexes": [
                            models.Index(
                                fields=["organization", "member", "project", "-created_at"], name="notice_list"
                            ),
                            models.Index(
                                condition=models.Q(("read_at", None)),
                                fields=["organization", "kind", "subject"],
                                name="notice_unread",
                            ),
                        ],
                        "constraints": [once("one_notice_per_subject", "member", "kind", "subject")],
                    },
                ),
                migrations.CreateModel(
                    "NoticeEmail",
                    fields=[
                        ID,
                        ("sent_at", models.DateTimeField()),
                        ORGANIZATION,
                        ("member", TenantForeignKey(related_name="+", to="projects.member")),
                        ("project", TenantForeignKey(related_name="notice_emails", to="projects.project")),
                    ],
                    options={"constraints": [once("one_notice_email", "project", "member")]},
                ),
                migrations.CreateModel(
                    "NoticeSettings",
                    fields=[
                        ID,
                        ("ways", models.JSONField(default=dict)),
                        ("frequency", models.CharField(choices=FREQUENCIES, default="at_once", max_length=8)),
                        ("quiet_from", models.TimeField(null=True)),
                        ("quiet_to", models.TimeField(null=True)),
                        ("timezone", models.CharField(default="UTC", max_length=64)),
                        ("slack_url", models.TextField(blank=True)),
                        ("slack_error", models.CharField(blank=True, max_length=300)),
                        ("slack_sent_at", models.DateTimeField(null=True)),
                        ORGANIZATION,
                        ("member", TenantForeignKey(related_name="notice_settings", to="projects.member")),
                    ],
                    options={
                        "verbose_name_plural": "notice settings",
                        "constraints": [once("one_notice_settings", "member")],
                    },
                ),
            ]
        ),
        combine(
            tenant_table("notices_notice", parents=PARENTS, referenced=False),
            tenant_table("notices_noticeemail", parents=PARENTS, referenced=False),
            tenant_table("notices_noticesettings", parents={"member_id": "projects_member"}, referenced=False),
        ),
    ]
