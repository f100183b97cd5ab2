"""A tenant with a large knowledge base: articles of some two hundred words, common and rare as in a language."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import cast
from uuid import UUID

from django.db import connections
from django.utils import timezone

from projects.agents.services import create_organization, create_project
from projects.knowledge.indexing import index_articles
from projects.knowledge.search import search_articles
from projects.models import Article, Project, User
from projects.models.agent_config import AgentConfig
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_organizations

EMAIL = "knowledge@bench.example"
CHUNK = 500


def words(text: str) -> list[str]:
    return text.split()


BEGINNINGS = words("al bar can dor es fer gan hol in jor kal lam mor nel op par quin ros sal ter un ver wal yor zan")
MIDDLES = words("a e i o u ai ea io ou er an in or al is ur")
ENDINGS = words("t n r l s nd rt ck sh th m p ge ve de ment ness ful tion ship")
KNOWN = words(
    """
    order refund return parcel delivery cancel booking table voucher account password invoice payment address opening
    hours terrace dog allergy menu child parking garage ticket size colour warranty repair exchange shipping customs
    """
)
QUESTIONS = {
    "one common word": "refund",
    "a short question": "Can I cancel my order?",
    "a long question of common words": (
        "I ordered a table and a voucher last week, but the parcel did not arrive and the payment was taken from my "
        "account twice; can I cancel the order, get a refund, and have the invoice sent to another address?"
    ),
    "a name that one article has": "zanzibarion",
    "a mistyped word": "refnud parcle",
    "a name half remembered": "zanzibarian",
    "words that nobody wrote": "xylophone quokka",
}


def filled_project(*, articles: int) -> Project:
    """The bench's project, with so many articles; made once where the data are kept."""
    user = User.objects.filter(email=EMAIL).first() or User.objects.create_user(EMAIL)
    found = find_organizations(user_id=user.pk)
    organization = found[0] if found else create_organization("Bench", owner=user).pk
    with tenant_tx(organization):
        project = Project.objects.first() or create_project(
            "Bench", config=AgentConfig(agent_name="a", business_name="b")
        )
        have = Article.objects.count()
    texts = _Texts()
    for first in range(have, articles, CHUNK):
        # Written before the transaction: a server ends one in which nothing happens.
        rows = [texts.article(number) for number in range(first, min(first + CHUNK, articles))]
        with tenant_tx(organization):
            made = [Article(project=project, published_at=timezone.now(), language="english", **row) for row in rows]
            Article.objects.bulk_create(made)
            index_articles(article.pk for article in made)
    return project


def vacuum() -> None:
    """What the server does by itself after a while."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("vacuum analyze projects_article")
        cursor.execute("vacuum analyze projects_articleword")


def ask(project: Project, text: str) -> int:
    """How many articles a question finds."""
    with tenant_tx(cast(UUID, project.organization_id)):
        return len(search_articles(project.pk, text, most=8))


class _Texts:
    """Texts whose words are as common and as rare as those of a language."""

    def __init__(self) -> None:
        self._random = random.Random(7)  # noqa: S311 - the same texts each time, no secret
        made = {
            begins + middle + ends + more
            for begins in BEGINNINGS
            for middle in MIDDLES
            for ends in ENDINGS
            for more in ("", "er", "ous")
        }
        self._words = KNOWN + sorted(made)
        self._weights = [1 / (place + 10) for place in range(len(self._words))]

    def article(self, number: int) -> dict[str, str]:
        title = self._some(5)
        if number == 7:
            title = f"{title} zanzibarion"
        return {"slug": f"article-{number}", "title": title, "excerpt": self._some(12), "body": self._some(200)}

    def _some(self, number: int) -> str:
        chosen: Sequence[str] = self._random.choices(self._words, self._weights, k=number)
        return " ".join(chosen)
