"""A large knowledge base of articles with about 200 words each, distributed as in natural language."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import cast
from uuid import UUID

from django.utils import timezone

from projects.knowledge.indexing import index_articles
from projects.knowledge.search import search_articles
from projects.models import Article, Project
from tenancy.scope import tenant_tx

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


def load_articles(project: Project, *, number: int) -> None:
    """Write and index this many articles."""
    texts = _Texts()
    for first in range(0, number, CHUNK):
        # Built before the transaction starts, because the server ends idle ones.
        rows = [texts.article(one) for one in range(first, min(first + CHUNK, number))]
        with _tx(project):
            made = [Article(project=project, published_at=timezone.now(), language="english", **row) for row in rows]
            Article.objects.bulk_create(made)
            index_articles(article.pk for article in made)


def ask(project: Project, text: str) -> None:
    """Ask a question as a tool does: in one transaction, through row-level security, up to the last row."""
    with _tx(project):
        search_articles(project.pk, text, most=8)


def _tx(project: Project) -> AbstractContextManager[None]:
    return tenant_tx(cast(UUID, project.organization_id))


class _Texts:
    """Texts with the word frequencies of natural language."""

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
