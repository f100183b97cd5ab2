"""Article search in one statement, for customers' messages and the search box alike.

PostgreSQL's dictionaries stem the words and drop stop words, in every language of the project's articles. A word that
no article contains is replaced by its nearest matches by trigram, to correct typos. Rare words weigh more than common
ones, and words in a title more than those in a body.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import connection

from tenancy.scope import current_organization_id

LONGEST_QUESTION = 1_000
MAX_WORDS = 24
# The number of articles considered per word, those with the highest weight first.
MAX_ARTICLES_PER_WORD = 1_000
LAST_CHARACTER = "\U0010ffff"

# Results far below the best score are dropped, and those that match too little of the question: they need half of its weight,
# or a quarter if a match is in the title or two words match.
SEARCH = """
with asked as materialized (
    select lexeme as word, positions[1] as place from unnest(to_tsvector('simple', %(text)s)) order by place limit %(words)s
), spoken as materialized (
    select language, (case language when 'simple' then language else language || '_stem' end)::regdictionary as dictionary,
        number
    from (
        select language, count(*) as number from projects_article
        where organization_id = %(organization)s and project_id = %(project)s group by language
    ) languages
), read as materialized (
    select word, language, ts_lexize(dictionary, word) as stems from asked cross join spoken
), question_in as (
    select language from (
        select language, rank() over (order by count(*) filter (where stems = '{}') desc) as place from read group by language
    ) languages where place = 1
), little as (
    select distinct word from read where stems = '{}' and language in (select language from question_in)
), term as materialized (
    select distinct word as asked, unnest(stems) as word from read where word not in (select word from little)
), known as materialized (
    select asked, word, 1.0::real as likeness from term where exists (
        select from projects_articleword w
        where w.organization_id = %(organization)s and w.project_id = %(project)s and w.word = term.word
    )
), missed as (
    select distinct asked from term where length(asked) > 3 and asked not in (select asked from known)
), like_it as (
    select missed.asked, near.word, near.likeness from missed cross join lateral (
        select word, similarity(word, missed.asked) as likeness from (
            select word from projects_articleword
            where organization_id = %(organization)s and project_id = %(project)s
                and word >= left(missed.asked, 2) and word < left(missed.asked, 2) || %(last)s
            union
            select word from projects_articleword
            where organization_id = %(organization)s and project_id = %(project)s and weight >= 4
                and word >= left(missed.asked, 1) and word < left(missed.asked, 1) || %(last)s
        ) begins_alike
        where similarity(word, missed.asked) >= 0.4 or (
            length(word) = length(missed.asked) and similarity(word, missed.asked) >= 0.2
            and array(select unnest(string_to_array(word, null)) order by 1)
                = array(select unnest(string_to_array(missed.asked, null)) order by 1)
        )
        order by likeness desc, word limit 3
    ) near
), met as materialized (
    select * from known union all select * from like_it
), hit as materialized (
    select t.asked, w.article_id, max(w.weight * t.likeness) as weight
    from met t cross join lateral (
        select article_id, weight from projects_articleword
        where organization_id = %(organization)s and project_id = %(project)s and word = t.word
        order by weight desc limit %(enough)s
    ) w
    join projects_article a on a.organization_id = %(organization)s and a.id = w.article_id
    where a.published_at is not null or not %(published)s
    group by t.asked, w.article_id
), worth as materialized (
    select asked, coalesce(rarity, max(rarity) over ())::real as rarity
    from (select distinct asked from term) wanted
    left join (
        select asked, ln(1 + (select sum(number) from spoken) / count(*)) as rarity from hit group by asked
    ) hits using (asked)
), found as (
    select h.article_id, sum(w.rarity * (1 + ln(h.weight + 1))) as score
    from hit h join worth w using (asked) group by h.article_id
    having sum(w.rarity) > (select sum(rarity) from worth)
        * case when max(h.weight) >= 4 or count(*) > 1 then 0.25 else 0.5 end
    order by score desc, h.article_id limit %(most)s
)
select a.id, a.slug, a.title, a.excerpt, a.body, a.published_at is not null, f.score, array(
    select w.word from met join projects_articleword w
        on w.organization_id = %(organization)s and w.article_id = f.article_id and w.word = met.word
)
from found f join projects_article a on a.organization_id = %(organization)s and a.id = f.article_id
where f.score >= 0.35 * (select max(score) from found) order by f.score desc, a.id
"""


@dataclass(frozen=True)
class Found:
    """A search result. `words` are the matched words of the article, as stems."""

    id: UUID
    slug: str
    title: str
    excerpt: str
    body: str
    is_published: bool
    score: float
    words: Sequence[str]


def search_articles(project_id: UUID, text: str, *, most: int, drafts: bool = False) -> list[Found]:
    """The articles of a project that match a question, best first: published ones, or `drafts` as well.

    One statement, in the current transaction of the project's organization. Empty if nothing matches.
    """
    asked = text.replace("\0", " ")[:LONGEST_QUESTION]
    if not asked.strip():
        return []
    values: dict[str, Any] = {
        "text": asked,
        "organization": current_organization_id(),
        "project": project_id,
        "published": not drafts,
        "most": most,
        "words": MAX_WORDS,
        "enough": MAX_ARTICLES_PER_WORD,
        "last": LAST_CHARACTER,
    }
    with connection.cursor() as cursor:
        cursor.execute(SEARCH, values)
        return [Found(*row) for row in cursor.fetchall()]
