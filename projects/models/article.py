"""Articles of a project's knowledge base, and their search index."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from tenancy.tenant_models import TenantForeignKey, TenantModel


class Article(TenantModel):
    """An article. Without `published_at` it is a draft, which neither customers nor the agent see.

    `version` counts the changes of its text. `language` is the text search configuration of its indexed words.
    """

    project = TenantForeignKey("projects.Project", related_name="articles")
    slug = models.SlugField(max_length=120)
    title = models.CharField(max_length=200)
    excerpt = models.CharField(max_length=400, blank=True)
    body = models.TextField()
    language = models.CharField(max_length=20, default="simple")
    version = models.PositiveIntegerField(default=1)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+")
    published_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "project", "slug"], name="one_article_per_slug")]
        # Covering index for search.
        indexes = [
            models.Index(
                fields=["organization", "project"], include=["id", "language", "published_at"], name="article_searched"
            )
        ]
        ordering = ["title"]

    def __str__(self) -> str:
        return self.title

    @property
    def is_published(self) -> bool:
        return self.published_at is not None


class ArticleWord(TenantModel):
    """A stemmed word of an article, with its weight in search.

    Words are stored as rows, because under row-level security a query can use a b-tree index, but no full-text or
    trigram index.
    """

    project = TenantForeignKey("projects.Project", related_name="+", db_index=False)
    article = TenantForeignKey(Article, related_name="words", db_index=False)
    word = models.TextField(db_collation="C")
    weight = models.SmallIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["organization", "article", "word"], name="one_word_per_article")]
        indexes = [
            models.Index(
                fields=["organization", "project", "word", "weight"], include=["article"], name="article_found_by"
            ),
            # Words in titles, the candidates for correcting typos.
            models.Index(
                fields=["organization", "project", "word"],
                condition=models.Q(weight__gte=4),
                name="article_titled_by",
            ),
        ]

    def __str__(self) -> str:
        return self.word
