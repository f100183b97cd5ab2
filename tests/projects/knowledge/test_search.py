"""Article search: stemming, languages, typos, drafts, excerpts and passages."""

from __future__ import annotations

from uuid import uuid4

import pytest

from projects.knowledge.indexing import language_of
from projects.knowledge.passages import excerpt_of, passage_of
from projects.knowledge.search import Found, search_articles
from projects.knowledge.services import Writer, change_article, delete_article, unpublish_article
from projects.knowledge.text import ArticleText
from projects.models import Article, ArticleWord
from tests.conftest import Tenant
from tests.projects.knowledge.conftest import Write

ARTICLES = {
    "Can I bring my dog?": "Dogs are welcome on the terrace, and get a bowl of water.",
    "How do I cancel an order?": "Cancellations are free until the parcel has left us. You get your money back.",
    "Do you sell gift vouchers?": "We sell vouchers at the counter. They are valid for two years.",
    "Wo kann ich parken?": "Die nächste Garage ist nebenan. Sie können dort den ganzen Tag parken, es kostet vier Euro.",
    "Chi era Nello Marchetti?": "È il fondatore della trattoria, che ha aperto nel 1974 con sua moglie e con i suoi figli.",
}
# Questions, and the title of the first result; "" if there should be none.
QUESTIONS = [
    ("are dogs allowed?", "Can I bring my dog?"),
    ("I want to cancel something that I ordered", "How do I cancel an order?"),
    ("how long are vouchers valid", "Do you sell gift vouchers?"),
    ("Gibt es Parkplätze? Wo kann man parken?", "Wo kann ich parken?"),
    ("who is marcheti", "Chi era Nello Marchetti?"),
    ("gift vuocher", "Do you sell gift vouchers?"),
    ("do you rent helicopters?", ""),
    ("who are you", ""),
    ("   ", ""),
    ("' | & ! :* <-> \\ (", ""),
]


def titles(tenant: Tenant, question: str, *, drafts: bool = False) -> list[str]:
    with tenant.tx():
        return [one.title for one in search_articles(tenant.project.pk, question, most=5, drafts=drafts)]


def test_a_question_finds_the_article_that_answers(empty: Tenant, write: Write) -> None:
    for title, body in ARTICLES.items():
        write(title, body)
    first = {question: next(iter(titles(empty, question)), "") for question, _ in QUESTIONS}
    assert first == dict(QUESTIONS)


@pytest.mark.requirement("W07")
def test_drafts_are_found_only_by_staff(empty: Tenant, write: Write) -> None:
    article = write("Opening hours", is_published=False)
    assert titles(empty, "opening hours") == []
    assert titles(empty, "opening hours", drafts=True) == [article.title]


def test_changes_and_deletions_affect_search_immediately(empty: Tenant, write: Write) -> None:
    article, gone = write("Bicycles", "Lock them in the yard."), write("Skateboards")
    with empty.tx():
        change_article(article, ArticleText("Scooters", "", "Fold them, please."), by=Writer(empty.owner))
        delete_article(gone, by=Writer(empty.owner))
        assert not ArticleWord.objects.filter(word__in=["skateboard", "bicycl"]).exists()
    assert titles(empty, "bicycles in the yard") == []
    assert titles(empty, "scooter") == ["Scooters"]
    with empty.tx():
        unpublish_article(Article.objects.get(), by=Writer(empty.owner))
    assert titles(empty, "scooter") == []


def test_another_projects_article_is_not_found(empty: Tenant, write: Write, stranger: Tenant) -> None:
    write("Zanzibar evenings")
    with stranger.tx():
        assert search_articles(empty.project.pk, "zanzibar", most=5) == []
    assert titles(empty, "zanzibar") == ["Zanzibar evenings"]


def test_title_words_and_rare_words_weigh_more(empty: Tenant, write: Write) -> None:
    write("Lunch", "Every lunch has pasta. Ask for truffles.")
    write("Truffles", "They come from Alba.")
    write("Dinner", "Every dinner has pasta.")
    assert titles(empty, "truffles") == ["Truffles", "Lunch"]
    assert titles(empty, "pasta, or do you have truffles?")[0] != "Dinner"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Dogs are welcome on the terrace, but not inside.", "english"),
        ("I cani sono i benvenuti sulla terrazza, ma non nella sala.", "italian"),
        ("Hunde sind auf der Terrasse willkommen, aber nicht im Haus.", "german"),
        ("犬はテラスで歓迎です", "simple"),
    ],
)
@pytest.mark.usefixtures("_schema")
def test_the_language_is_detected_by_stop_words(text: str, language: str) -> None:
    assert language_of(text) == language


def test_an_excerpt_starts_near_the_match_and_marks_it(empty: Tenant, write: Write) -> None:
    write(
        "Allergies", "A long beginning that says nothing. " * 20 + "Tell us about **nut allergies** before you order."
    )
    with empty.tx():
        [found] = search_articles(empty.project.pk, "do you cope with an allergy", most=5)
    pieces = excerpt_of(found)
    assert [piece.text for piece in pieces if piece.is_marked] == ["allergies"]
    assert pieces[0].text == "…"


def test_a_passage_contains_the_matching_paragraph(empty: Tenant, write: Write) -> None:
    paragraphs = [
        f"Paragraph {number} is about {word}. " * 8 for number, word in enumerate(["weather", "sport", "music"])
    ]
    write("House rules", "\n\n".join([*paragraphs, "Dogs have to be on a lead."]))
    with empty.tx():
        [found] = search_articles(empty.project.pk, "dog on a lead", most=5)
    passage = passage_of(found, longest=400)
    assert "Dogs have to be on a lead." in passage
    assert len(passage) <= 400


def found(body: str, *words: str) -> Found:
    return Found(uuid4(), "dogs", "Dogs", "", body, is_published=True, score=1.0, words=words)


def test_matching_paragraphs_keep_their_order() -> None:
    parts = ["A dog may come along.", "We serve pizza. " * 8, "Parking is free. " * 8, "Keep the dog on a lead."]
    text = passage_of(found("\n\n".join(parts), "dog"), longest=80)
    assert text == "A dog may come along.\nKeep the dog on a lead."
    assert passage_of(found("Short.\n\nBoth are read.", "dog"), longest=80) == "Short.\n\nBoth are read."


def test_an_excerpt_is_one_contiguous_part() -> None:
    text = f"{'Pizza is served. ' * 9}A dog may come along. {'Parking is free. ' * 9}And a dog again. {'Bye. ' * 40}"
    pieces = excerpt_of(found(text, "dog"))
    shown = "".join(piece.text for piece in pieces if piece.text != "…")
    assert shown in " ".join(text.split())
    assert [piece.text for piece in pieces if piece.is_marked] == ["dog"]
