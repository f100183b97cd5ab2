"""The search index: an article's words, reduced by the PostgreSQL dictionary of its language.

Under row-level security, an index serves only leakproof comparisons. Text comparisons are leakproof, full-text search
and trigrams are not, so a GIN index over a tsvector would never be used and every search would read every article.
Words are therefore stored as rows with a b-tree index.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from uuid import UUID

from django.db import connection

from projects.models import ArticleWord
from tenancy.scope import current_organization_id

UNKNOWN = "simple"
# PostgreSQL's dictionaries with stop words, and the language codes for pages.
LANGUAGES = {
    "danish": "da",
    "dutch": "nl",
    "english": "en",
    "finnish": "fi",
    "french": "fr",
    "german": "de",
    "hungarian": "hu",
    "italian": "it",
    "norwegian": "no",
    "portuguese": "pt",
    "russian": "ru",
    "spanish": "es",
    "swedish": "sv",
    "turkish": "tr",
}
WORD = re.compile(r"[^\W\d_]+")
# The number of words examined, and the required share of stop words (one in …).
LOOKED_AT, ONE_IN = 300, 6

COUNT_STOP_WORDS = """
select language, count(*) filter (where ts_lexize((language || '_stem')::regdictionary, word) = '{}') as found
from unnest(%(languages)s::text[]) language cross join unnest(%(words)s::text[]) word
group by language order by found desc, language = 'english' desc, language limit 1
"""
# Weights: title 4, excerpt 2, body 1 to 3 by the number of occurrences.
INSERT_WORDS = """
insert into projects_articleword (id, organization_id, project_id, article_id, word, weight)
select gen_random_uuid(), a.organization_id, a.project_id, a.id, found.word, found.weight
from projects_article a cross join lateral (
    select left(lexeme, 100) as word, sum(weight)::smallint as weight
    from (
        select lexeme, 4 as weight from unnest(to_tsvector(a.language::regconfig, a.title))
        union all
        select lexeme, 2 from unnest(to_tsvector(a.language::regconfig, a.excerpt))
        union all
        select lexeme, least(coalesce(cardinality(positions), 1), 3) from unnest(to_tsvector(a.language::regconfig, a.body))
    ) parts
    group by 1
) found
where a.organization_id = %(organization)s and a.id = any(%(articles)s)
"""


def language_of(text: str) -> str:
    """The text search configuration of a text, detected by its stop words; `simple` if no language is recognized."""
    words = WORD.findall(text.lower())[:LOOKED_AT]
    if not words:
        return UNKNOWN
    with connection.cursor() as cursor:
        cursor.execute(COUNT_STOP_WORDS, {"languages": list(LANGUAGES), "words": words})
        [(language, count)] = cursor.fetchall()
    return language if count * ONE_IN >= len(words) else UNKNOWN


def index_articles(articles: Iterable[UUID]) -> None:
    """Rebuild the words of these articles, in the current transaction of their organization."""
    ids = list(articles)
    ArticleWord.objects.filter(article_id__in=ids).delete()
    with connection.cursor() as cursor:
        cursor.execute(INSERT_WORDS, {"organization": current_organization_id(), "articles": ids})
