"""Articles of a new business."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from projects.knowledge.indexing import index_articles
from projects.models import Article, Project


def plant_articles(project: Project, document: list[dict[str, Any]]) -> None:
    """Create a template's articles as published, unless the project has articles. Two inserts, however many articles."""
    if Article.objects.filter(project=project).exists():
        return
    now = timezone.now()
    articles = [Article(project=project, published_at=now, **row) for row in document]
    Article.objects.bulk_create(articles)
    index_articles(article.pk for article in articles)
