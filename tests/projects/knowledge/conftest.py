from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from projects.knowledge.seeds import plant_articles
from projects.knowledge.services import Writer, write_article
from projects.knowledge.text import ArticleText
from projects.models import Article
from tests.conftest import RESTAURANT, Tenant

Write = Callable[..., Article]


def plant(tenant: Tenant) -> Tenant:
    """Add the demo's articles. Tenants start without them, because few tests need them and indexing takes time."""
    with tenant.tx():
        plant_articles(tenant.project, json.loads(RESTAURANT.read_text())["seeds"]["articles"])
    return tenant


@pytest.fixture
def written(tenant: Tenant) -> Tenant:
    """A tenant with the demo's articles."""
    return plant(tenant)


@pytest.fixture
def empty(tenant: Tenant) -> Tenant:
    """A tenant without articles."""
    return tenant


@pytest.fixture
def write(tenant: Tenant) -> Write:
    """Creates articles of the tenant, published by default."""

    def write_one(title: str, body: str = "Words.", *, excerpt: str = "", is_published: bool = True) -> Article:
        text = ArticleText(title=title, excerpt=excerpt, body=body)
        with tenant.tx():
            return write_article(tenant.project, text, by=Writer(tenant.owner), is_published=is_published)

    return write_one
