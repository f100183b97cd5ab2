"""Writing articles: slugs, concurrent edits, validation and the audit log."""

from __future__ import annotations

import pytest

from projects.knowledge.services import (
    ChangedMeanwhile,
    Writer,
    change_article,
    delete_article,
    publish_article,
    unpublish_article,
    write_article,
)
from projects.knowledge.text import ArticleRefused, ArticleText
from projects.models import Article, AuditEntry
from tests.conftest import Tenant
from tests.projects.knowledge.conftest import Write


def test_slugs_are_made_from_titles_and_are_unique(write: Write) -> None:
    titles = ["Öffnungszeiten & Preise!", "Öffnungszeiten  Preise", "Öffnungszeiten: Preise", "犬", "x" * 200]
    assert [write(title).slug for title in titles] == [
        "offnungszeiten-preise",
        "offnungszeiten-preise-2",
        "offnungszeiten-preise-3",
        "article",
        "x" * 100,
    ]


def test_the_slug_stays_when_the_title_changes(empty: Tenant, write: Write) -> None:
    """Links on cards already shown keep working."""
    article = write("Dogs")
    with empty.tx():
        change_article(article, ArticleText("Cats and dogs", "", "Words."), by=Writer(empty.owner))
        assert Article.objects.get().slug == "dogs"


def test_line_ends_are_normalized(write: Write) -> None:
    """Browsers send CRLF."""
    assert write("Dogs", "- one  \r\n- two\t\r\rEnd\n").body == "- one\n- two\n\nEnd"


def test_a_short_text_gets_the_language_of_the_other_articles(write: Write) -> None:
    """Otherwise its words would not be stemmed."""
    write(
        "Öffnungszeiten",
        "Wir haben jeden Tag von neun bis acht Uhr für Sie geöffnet, und auch am Sonntag nach der Messe.",
    )
    assert write("Parkplätze", "Parkplätze").language == "german"


def test_the_second_of_two_editors_gets_a_conflict(empty: Tenant, write: Write) -> None:
    article = write("Dogs")
    with empty.tx():
        change_article(article, ArticleText("Dogs", "", "First."), by=Writer(empty.owner), started_from=1)
    with empty.tx(), pytest.raises(ChangedMeanwhile) as refused:
        change_article(article, ArticleText("Dogs", "", "Second."), by=Writer(empty.owner), started_from=1)
    assert refused.value.article.body == "First."
    with empty.tx():
        assert (
            change_article(article, ArticleText("Dogs", "", "First."), by=Writer(empty.owner), started_from=1) is False
        )
        assert change_article(article, ArticleText("Dogs", "", "Second."), by=Writer(empty.owner), started_from=2)
        assert Article.objects.get().version == 3


@pytest.mark.parametrize(
    ("text", "field"),
    [
        (ArticleText(" \u200b ", "", "Words."), "title"),
        (ArticleText("x" * 201, "", "Words."), "title"),
        (ArticleText("Dogs", "x" * 401, "Words."), "excerpt"),
        (ArticleText("Dogs", "", "\n \n"), "body"),
        (ArticleText("Dogs", "", "x" * 50_001), "body"),
        (ArticleText("Dogs", "", "Bad \x00 character"), "body"),
        (ArticleText("Dogs", "", "Half \ud83d"), "body"),
    ],
)
@pytest.mark.usefixtures("_schema")
def test_invalid_text_is_refused_at_its_field(text: ArticleText, field: str) -> None:
    with pytest.raises(ArticleRefused) as refused:
        text.checked()
    assert list(refused.value.errors) == [field]


def test_each_change_is_in_the_audit_log(empty: Tenant, write: Write) -> None:
    article = write("Dogs", is_published=False)
    by = Writer(empty.owner)
    with empty.tx():
        change_article(article, ArticleText("Cats", "", "Words."), by=by)
        for _ in range(2):
            publish_article(article, by=by)
        for _ in range(2):
            unpublish_article(article, by=by)
        delete_article(article, by=by)
        write_article(empty.project, ArticleText("Keys", "", "Words."), by=Writer(None, "the key test"))
        noted = [
            (entry.action, entry.actor)
            for entry in AuditEntry.objects.order_by("id")
            if entry.action.startswith("article")
        ]
        changed = AuditEntry.objects.get(action="article.changed")
    assert [action for action, _ in noted] == [
        "article.written",
        "article.changed",
        "article.published",
        "article.unpublished",
        "article.deleted",
        "article.written",
    ]
    assert noted[-1][1] == "the key test"
    assert (changed.before, changed.after) == ({"title": "Dogs"}, {"title": "Cats"})
