"""Where customers read a published article."""

from __future__ import annotations

from django.conf import settings


def article_path(project_slug: str, slug: str) -> str:
    return f"/k/{project_slug}/{slug}"


def article_url(project_slug: str, slug: str) -> str:
    """The whole address of an article's public page."""
    return f"{settings.BASE_URL}{article_path(project_slug, slug)}"
