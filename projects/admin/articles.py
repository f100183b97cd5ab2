"""Articles and their search index in the admin."""

from __future__ import annotations

from django.contrib import admin

from projects.admin.tenant_admin import TenantAdmin
from projects.models import (
    Article,
    ArticleWord,
)


@admin.register(Article)
class ArticleAdmin(TenantAdmin):
    """Articles, read-only: they are written on the pages of the knowledge base."""

    list_display = ("title", "slug", "project", "language", "version", "published_at", "updated_at")
    list_filter = ("language", "project")
    list_select_related = ("project",)
    search_fields = ("=slug", "title")


@admin.register(ArticleWord)
class ArticleWordAdmin(TenantAdmin):
    """The search index of articles, rebuilt whenever an article changes."""

    list_display = ("word", "article", "weight")
    ordering = ("-weight",)
    list_select_related = ("article",)
    search_fields = ("=word",)
