"""What a model reads of the knowledge base: passages of published articles, or honestly that there are none (F10, T08)."""

from __future__ import annotations

from uuid import UUID

from projects.knowledge.passages import passage_of
from projects.knowledge.search import search_articles

MOST_ARTICLES = 3
# Of one article; three of them fit into what a model is told of a call.
LONGEST_PASSAGE = 1_100
LONGEST_IN_PROMPT = 700
FOUND = "The knowledge base says, the best first:"
NOTHING = "The knowledge base has nothing about this. Say that you don't know it and offer to pass the question on; don't guess."


def read_answers(project_id: UUID, question: str) -> str:
    """What published articles say about a question, each with its title and slug. In the running transaction."""
    found = search_articles(project_id, question, most=MOST_ARTICLES)
    passages = (f"{one.title} (slug: {one.slug})\n{passage_of(one, longest=LONGEST_PASSAGE)}" for one in found)
    return "\n\n".join([FOUND, *passages]) if found else NOTHING


def prompt_passages(project_id: UUID, question: str) -> list[str]:
    """The same for a prompt, without being asked for it: one line for each article. One statement."""
    found = search_articles(project_id, question, most=MOST_ARTICLES)
    return [f"{one.title}: {' '.join(passage_of(one, longest=LONGEST_IN_PROMPT).split())}" for one in found]
