"""Public URLs of published articles."""

from __future__ import annotations

from django.conf import settings


def article_path(project_slug: str, slug: str) -> str:
    return f"/k/{project_slug}/{slug}"


def article_url(project_slug: str, slug: str) -> str:
    """The absolute URL of an article's public page."""
    return f"{settings.BASE_URL}{article_path(project_slug, slug)}"
