"""Search results for a model: passages of published articles, or a statement that there are none."""

from __future__ import annotations

from uuid import UUID

from projects.knowledge.passages import passage_of
from projects.knowledge.search import search_articles

MOST_ARTICLES = 3
# Characters per article; three of them fit into a tool result.
LONGEST_PASSAGE = 1_100
LONGEST_IN_PROMPT = 700
FOUND = "The knowledge base says, the best first:"
# The first sentence tells the analytics that a question stayed unanswered.
NOTHING_FOUND = "The knowledge base has nothing about this."
NOTHING = f"{NOTHING_FOUND} Say that you don't know it and offer to pass the question on; don't guess."


def read_answers(project_id: UUID, question: str) -> str:
    """Passages of published articles for a question, each with its title and slug. Runs in the current transaction."""
    found = search_articles(project_id, question, most=MOST_ARTICLES)
    passages = (f"{one.title} (slug: {one.slug})\n{passage_of(one, longest=LONGEST_PASSAGE)}" for one in found)
    return "\n\n".join([FOUND, *passages]) if found else NOTHING


def prompt_passages(project_id: UUID, question: str) -> list[str]:
    """Passages for a prompt, one line per article. One statement."""
    found = search_articles(project_id, question, most=MOST_ARTICLES)
    return [f"{one.title}: {' '.join(passage_of(one, longest=LONGEST_IN_PROMPT).split())}" for one in found]
