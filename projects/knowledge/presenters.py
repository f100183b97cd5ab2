"""API payloads of articles."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, TypedDict

from projects.common.presenters import Url
from projects.knowledge.links import article_url
from projects.knowledge.passages import passage_of
from projects.knowledge.search import Found
from projects.models import Article, Project

LONGEST_PASSAGE = 600


class ArticleLinePayload(TypedDict):
    slug: str
    title: str
    excerpt: str
    published: bool
    published_at: datetime | None
    language: Annotated[str, "The text search configuration used to index it."]
    version: int
    url: Url | None
    created_at: datetime
    updated_at: datetime


class ArticlePayload(ArticleLinePayload):
    body: str


class FoundArticlePayload(TypedDict):
    """A search result, with the passage that matches the question."""

    slug: str
    title: str
    excerpt: str
    published: bool
    url: Url | None
    passage: str
    score: float


def article_line(article: Article, project: Project) -> ArticleLinePayload:
    """An article without its body, for lists."""
    return {
        "slug": article.slug,
        "title": article.title,
        "excerpt": article.excerpt,
        "published": article.is_published,
        "published_at": article.published_at,
        "language": article.language,
        "version": article.version,
        "url": article_url(project.slug, article.slug) if article.is_published else None,
        "created_at": article.created_at,
        "updated_at": article.updated_at,
    }


def article_payload(article: Article, project: Project) -> ArticlePayload:
    return {**article_line(article, project), "body": article.body}


def found_payload(found: Found, project: Project) -> FoundArticlePayload:
    return {
        "slug": found.slug,
        "title": found.title,
        "excerpt": found.excerpt,
        "published": found.is_published,
        "url": article_url(project.slug, found.slug) if found.is_published else None,
        "passage": passage_of(found, longest=LONGEST_PASSAGE),
        "score": round(found.score, 3),
    }
