"""The words by which articles are found, each as its language's dictionary of PostgreSQL leaves it.

Under row-level security an index serves only comparisons that the database calls leakproof. Those of text are; full text
search and trigrams are not, so that a GIN index over a tsvector would never be used and every search would read every
article. So the words of a tsvector are kept as rows, found by a b-tree.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from uuid import UUID

from django.db import connection

from projects.models import ArticleWord
from tenancy.scope import current_organization_id

UNKNOWN = "simple"
# The languages whose little words PostgreSQL knows, and how a page names them.
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
# Of so many words of a text, one in so many has to be a little word of its language.
LOOKED_AT, ONE_IN = 300, 6

LITTLE_WORDS = """
select language, count(*) filter (where ts_lexize((language || '_stem')::regdictionary, word) = '{}') as found
from unnest(%(languages)s::text[]) language cross join unnest(%(words)s::text[]) word
group by language order by found desc, language = 'english' desc, language limit 1
"""
# A word of the title says most, and one that the body repeats says a little more than one that stands there once.
WORDS_OF = """
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
    """The text search configuration of a text's language, by its little words; `simple` where none is recognised."""
    words = WORD.findall(text.lower())[:LOOKED_AT]
    if not words:
        return UNKNOWN
    with connection.cursor() as cursor:
        cursor.execute(LITTLE_WORDS, {"languages": list(LANGUAGES), "words": words})
        [(language, found)] = cursor.fetchall()
    return language if found * ONE_IN >= len(words) else UNKNOWN


def index_articles(articles: Iterable[UUID]) -> None:
    """Make the words of these articles anew, in the running transaction of their organization."""
    ids = list(articles)
    ArticleWord.objects.filter(article_id__in=ids).delete()
    with connection.cursor() as cursor:
        cursor.execute(WORDS_OF, {"organization": current_organization_id(), "articles": ids})
