import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import tenancy.ids
import tenancy.scope
import tenancy.tenant_models
from tenancy.rls import tenant_table

ACTIONS = [
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
    ("article.written", "wrote the article"),
    ("article.changed", "changed the article"),
    ("article.published", "published the article"),
    ("article.unpublished", "took back the article"),
    ("article.deleted", "deleted the article"),
]


class Migration(migrations.Migration):
    dependencies = [("projects", "0008_audit_entry")]

    operations = [
        # Words that are written wrongly are compared by trigrams. The extension is a trusted one: who owns the database
        # may make it, and nothing happens where it stands already.
        migrations.RunSQL("create extension if not exists pg_trgm", reverse_sql=migrations.RunSQL.noop),
        migrations.CreateModel(
            name="Article",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("slug", models.SlugField(max_length=120)),
                ("title", models.CharField(max_length=200)),
                ("excerpt", models.CharField(blank=True, max_length=400)),
                ("body", models.TextField()),
                ("language", models.CharField(default="simple", max_length=20)),
                ("version", models.PositiveIntegerField(default=1)),
                ("published_at", models.DateTimeField(null=True)),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "author",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
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
                (
                    "project",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="articles",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "ordering": ["title"],
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "project", "slug"), name="one_article_per_slug")
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
        tenant_table("projects_article", parents={"project_id": "projects_project"}),
        migrations.CreateModel(
            name="ArticleWord",
            fields=[
                ("id", models.UUIDField(default=tenancy.ids.uuid7, editable=False, primary_key=True, serialize=False)),
                ("word", models.TextField(db_collation="C")),
                ("weight", models.SmallIntegerField()),
                (
                    "article",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="words",
                        to="projects.article",
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
                (
                    "project",
                    tenancy.tenant_models.TenantForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="projects.project",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("organization", "article", "word"), name="one_word_per_article")
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
        tenant_table(
            "projects_articleword", parents={"project_id": "projects_project", "article_id": "projects_article"}
        ),
        migrations.AlterField(
            model_name="auditentry", name="action", field=models.CharField(choices=ACTIONS, max_length=40)
        ),
    ]
