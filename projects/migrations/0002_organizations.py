from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import migrations, models
from django.db.models.functions import Lower

from projects.models.widget import make_widget_key
from tenancy.baseline import ID, ORGANIZATION, CreateTables
from tenancy.rls import combine, foreign_key, organization_table, tenant_table, third_party_table
from tenancy.tenant_models import TenantForeignKey

PROJECT = {"project_id": "projects_project"}


class Migration(migrations.Migration):
    dependencies = [("projects", "0001_initial"), ("admin", "0003_logentry_add_action_flag_choices")]

    operations = [
        CreateTables(
            [
                migrations.CreateModel(
                    "Organization",
                    fields=[
                        ID,
                        ("name", models.CharField(max_length=120)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                ),
                migrations.CreateModel(
                    "AgentVersion",
                    fields=[
                        ID,
                        ("number", models.PositiveIntegerField()),
                        ("document", models.JSONField()),
                        ("note", models.CharField(max_length=200, blank=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "author",
                            models.ForeignKey(null=True, on_delete=models.SET_NULL, to=settings.AUTH_USER_MODEL),
                        ),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(
                                related_name="agent_versions", on_delete=models.CASCADE, to="projects.project"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-number"],
                        "constraints": [
                            models.UniqueConstraint(fields=("project", "number"), name="one_agent_version")
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Project",
                    fields=[
                        ID,
                        ("name", models.CharField(max_length=120)),
                        ("slug", models.CharField(max_length=60, unique=True, editable=False)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "agent_version",
                            TenantForeignKey(
                                null=True,
                                editable=False,
                                related_name="+",
                                on_delete=models.PROTECT,
                                to="projects.agentversion",
                            ),
                        ),
                        ORGANIZATION,
                    ],
                ),
                migrations.CreateModel(
                    "ApiKey",
                    fields=[
                        ID,
                        ("name", models.CharField(max_length=80)),
                        ("prefix", models.CharField(max_length=16, editable=False)),
                        ("digest", models.CharField(max_length=64, unique=True, editable=False)),
                        (
                            "scopes",
                            ArrayField(
                                base_field=models.CharField(
                                    choices=[
                                        ("read", "Look at conversations, tools and ledgers"),
                                        ("converse", "Open conversations and post messages"),
                                        ("configure", "Change attributes and tools"),
                                        ("operate", "Approve todos, resolve effects, run jobs again"),
                                    ],
                                    max_length=10,
                                ),
                                size=None,
                            ),
                        ),
                        ("throttled", models.BooleanField(default=True)),
                        ("expires_at", models.DateTimeField(blank=True, null=True)),
                        ("revoked_at", models.DateTimeField(blank=True, null=True)),
                        ("last_used_at", models.DateTimeField(null=True, editable=False)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True, editable=False, on_delete=models.SET_NULL, to=settings.AUTH_USER_MODEL
                            ),
                        ),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(related_name="api_keys", on_delete=models.CASCADE, to="projects.project"),
                        ),
                    ],
                    options={"ordering": ["-created_at"]},
                ),
                migrations.CreateModel(
                    "Member",
                    fields=[
                        ID,
                        (
                            "role",
                            models.CharField(
                                max_length=10,
                                choices=[
                                    ("owner", "Owner: full access, including other owners"),
                                    ("admin", "Admin: configures agents, members and keys"),
                                    ("operator", "Operator: talks to customers, approves and resolves"),
                                    ("viewer", "Viewer: read-only access"),
                                ],
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "user",
                            models.ForeignKey(
                                related_name="memberships", on_delete=models.CASCADE, to=settings.AUTH_USER_MODEL
                            ),
                        ),
                        ORGANIZATION,
                    ],
                    options={
                        "constraints": [models.UniqueConstraint(fields=("organization", "user"), name="one_membership")]
                    },
                ),
                migrations.CreateModel(
                    "IdempotentRequest",
                    fields=[
                        ID,
                        ("key", models.CharField(max_length=255)),
                        ("body_hash", models.CharField(max_length=64)),
                        ("status", models.PositiveSmallIntegerField(null=True)),
                        ("answer", models.JSONField(null=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(related_name="+", on_delete=models.CASCADE, to="projects.project"),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "project", "key"), name="one_idempotent_request"
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "Attribute",
                    fields=[
                        ID,
                        ("key", models.CharField(max_length=160)),
                        (
                            "type",
                            models.CharField(
                                max_length=10,
                                choices=[
                                    ("bool", "True or False"),
                                    ("str", "Text"),
                                    ("enum", "One of a fixed set"),
                                    ("json", "JSON"),
                                    ("secret", "Secret: stored encrypted, never shown again"),
                                ],
                            ),
                        ),
                        ("value", models.JSONField(blank=True, null=True)),
                        ("secret", models.TextField(blank=True, editable=False)),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(
                                blank=True,
                                null=True,
                                related_name="attributes",
                                on_delete=models.CASCADE,
                                to="projects.project",
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["key"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "project", "key"), name="one_attribute_per_project"
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("project", None)),
                                fields=("organization", "key"),
                                name="one_attribute_per_organization",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Invitation",
                    fields=[
                        ID,
                        ("email", models.EmailField(verbose_name="e-mail", max_length=254)),
                        (
                            "role",
                            models.CharField(
                                max_length=10,
                                choices=[
                                    ("owner", "Owner: full access, including other owners"),
                                    ("admin", "Admin: configures agents, members and keys"),
                                    ("operator", "Operator: talks to customers, approves and resolves"),
                                    ("viewer", "Viewer: read-only access"),
                                ],
                            ),
                        ),
                        ("digest", models.CharField(max_length=64, unique=True, editable=False)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("expires_at", models.DateTimeField(editable=False)),
                        ("emailed_at", models.DateTimeField(null=True, editable=False)),
                        ("accepted_at", models.DateTimeField(null=True, editable=False)),
                        ("revoked_at", models.DateTimeField(null=True, editable=False)),
                        (
                            "invited_by",
                            models.ForeignKey(
                                null=True, editable=False, on_delete=models.SET_NULL, to=settings.AUTH_USER_MODEL
                            ),
                        ),
                        ORGANIZATION,
                    ],
                    options={
                        "ordering": ["-created_at"],
                        "constraints": [
                            models.UniqueConstraint(
                                models.F("organization"),
                                Lower("email"),
                                condition=models.Q(("accepted_at", None), ("revoked_at", None)),
                                name="one_open_invitation",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Source",
                    fields=[
                        ID,
                        ("kind", models.CharField(max_length=40)),
                        ("settings", models.JSONField(blank=True, default=dict)),
                        ("secret", models.TextField(blank=True, editable=False)),
                        ("is_enabled", models.BooleanField(default=True)),
                        ("needs_reauth", models.BooleanField(default=False)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(related_name="sources", on_delete=models.CASCADE, to="projects.project"),
                        ),
                    ],
                    options={
                        "ordering": ["kind"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "project", "kind"), name="one_source_per_kind"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "AuditEntry",
                    fields=[
                        ID,
                        ORGANIZATION,
                        (
                            "action",
                            models.CharField(
                                max_length=40,
                                choices=[
                                    ("invitation.sent", "invited"),
                                    ("invitation.renewed", "invited again"),
                                    ("invitation.revoked", "took back the invitation of"),
                                    ("member.joined", "joined"),
                                    ("member.added", "added"),
                                    ("member.role", "gave another role to"),
                                    ("member.removed", "removed"),
                                    ("member.left", "left"),
                                    ("factor.passkey_added", "added the passkey"),
                                    ("factor.passkey_renamed", "renamed the passkey"),
                                    ("factor.passkey_removed", "removed the passkey"),
                                    ("factor.passkey_copied", "was refused with what may be a copy of the passkey"),
                                    ("factor.app_on", "turned on the codes of an app"),
                                    ("factor.app_off", "turned off the codes of an app"),
                                    ("factor.recovery_codes", "made new recovery codes"),
                                    ("factor.taken", "took a way of signing in from"),
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
                            ),
                        ),
                        (
                            "actor",
                            models.CharField(max_length=400, help_text="who did it: name and e-mail as they were"),
                        ),
                        (
                            "actor_id",
                            models.BigIntegerField(
                                null=True, help_text="the user who did it; none for a command of the server's"
                            ),
                        ),
                        ("subject", models.CharField(max_length=400, help_text="what it was done to, in words")),
                        (
                            "project_name",
                            models.CharField(max_length=120, blank=True, help_text="empty for what concerns them all"),
                        ),
                        ("before", models.JSONField(default=dict)),
                        ("after", models.JSONField(default=dict)),
                        ("at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={"verbose_name_plural": "audit entries", "ordering": ["-id"]},
                ),
                migrations.CreateModel(
                    "Article",
                    fields=[
                        ID,
                        ("slug", models.SlugField(max_length=120)),
                        ("title", models.CharField(max_length=200)),
                        ("excerpt", models.CharField(max_length=400, blank=True)),
                        ("body", models.TextField()),
                        ("language", models.CharField(max_length=20, default="simple")),
                        ("version", models.PositiveIntegerField(default=1)),
                        ("published_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                        (
                            "author",
                            models.ForeignKey(
                                null=True, related_name="+", on_delete=models.SET_NULL, to=settings.AUTH_USER_MODEL
                            ),
                        ),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(related_name="articles", on_delete=models.CASCADE, to="projects.project"),
                        ),
                    ],
                    options={
                        "ordering": ["title"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "project", "slug"), name="one_article_per_slug"
                            )
                        ],
                        "indexes": [
                            models.Index(
                                fields=["organization", "project"],
                                include=("id", "language", "published_at"),
                                name="article_searched",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "ArticleWord",
                    fields=[
                        ID,
                        ("word", models.TextField(db_collation="C")),
                        ("weight", models.SmallIntegerField()),
                        (
                            "article",
                            TenantForeignKey(
                                related_name="words", on_delete=models.CASCADE, to="projects.article", db_index=False
                            ),
                        ),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(
                                related_name="+", on_delete=models.CASCADE, to="projects.project", db_index=False
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "article", "word"), name="one_word_per_article"
                            )
                        ],
                        "indexes": [
                            models.Index(
                                fields=["organization", "project", "word", "weight"],
                                include=("article",),
                                name="article_found_by",
                            ),
                            models.Index(
                                condition=models.Q(("weight__gte", 4)),
                                fields=["organization", "project", "word"],
                                name="article_titled_by",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Widget",
                    fields=[
                        ID,
                        (
                            "public_key",
                            models.CharField(
                                max_length=40,
                                unique=True,
                                default=make_widget_key,
                                editable=False,
                            ),
                        ),
                        (
                            "origins",
                            ArrayField(
                                blank=True, default=list, base_field=models.CharField(max_length=255), size=None
                            ),
                        ),
                        ("theme", models.JSONField(blank=True, default=dict)),
                        ("shopper_secret", models.TextField(blank=True, editable=False)),
                        ("is_enabled", models.BooleanField(default=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(related_name="widgets", on_delete=models.CASCADE, to="projects.project"),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(fields=("organization", "project"), name="one_widget_per_project")
                        ]
                    },
                ),
            ]
        ),
        combine(
            # Words that are written wrongly are compared by trigrams. The extension is a trusted one: who owns the database
            # may make it, and nothing happens where it stands already.
            "create extension if not exists pg_trgm",
            organization_table("projects_organization"),
            tenant_table("projects_member"),
            tenant_table("projects_project"),
            tenant_table("projects_agentversion", parents=PROJECT, append_only=True),
            foreign_key("projects_project", "agent_version_id", "projects_agentversion"),
            tenant_table("projects_attribute", parents=PROJECT),
            tenant_table("projects_apikey", parents=PROJECT),
            tenant_table("projects_idempotentrequest", parents=PROJECT),
            tenant_table("projects_invitation"),
            tenant_table("projects_source", parents=PROJECT),
            tenant_table("projects_auditentry", append_only=True),
            tenant_table("projects_article", parents=PROJECT),
            tenant_table("projects_articleword", parents={**PROJECT, "article_id": "projects_article"}),
            tenant_table("projects_widget", parents=PROJECT),
            third_party_table("django_admin_log"),
        ),
    ]
