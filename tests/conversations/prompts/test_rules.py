"""The rules in the prompts: each stands in the request that is sent, and deleting any sentence of a prompt fails one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from conversations.prompts import session
from llm import prompts, requests
from llm.prompts import PARTS, TEMPLATES, Prompt, render
from tests.conversations.conftest import talk
from tests.conversations.prompts.requests import World, sent_request
from tests.conversations.prompts.rules import RULES, SKILLS, PromptRule
from tests.projects.knowledge.conftest import write

__all__ = ["talk", "write"]

TEMPLATE_TAG = re.compile(r"{%.*?%}")
MARKUP = re.compile(r"{%.*?%}|{{.*?}}|</?\w[^>]*>")
SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
# A name and its value, as in `goal of the next reply: {{ directives.goal }}`.
LABEL = re.compile(r"^[\w ]+: *{{")
# Shorter ones are headings.
MIN_WORDS = 4

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
each_skill = pytest.mark.parametrize("skill", SKILLS)


@dataclass(frozen=True)
class Sent:
    """The text of a skill's request as it was sent, and the contexts of its templates."""

    text: str
    contexts: Sequence[Any]


# Requests of the rules' tests differ by skill only, so each is sent once.
_sent: dict[str, Sent] = {}


@pytest.fixture
def sent(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Sent]:
    """Returns a function that sends a skill's request."""

    def of(skill: str) -> Sent:
        if skill not in _sent:
            contexts: list[Any] = []

            def spy(name: str, context: Any, **options: Any) -> Prompt:
                contexts.append(context)
                return render(name, context, **options)

            monkeypatch.setattr(requests, "render", spy)
            monkeypatch.setattr(session, "render", spy)
            world = World(*(request.getfixturevalue(name) for name in ("model", "talk", "write")))
            _sent[skill] = Sent(sent_request(skill, world), contexts)
        return _sent[skill]

    return of


def sentences(source: str) -> list[str]:
    """The instructions of a template, without headings, tags and labeled values."""
    pieces = [piece for line in source.splitlines() for piece in SENTENCE_END.split(line) if not LABEL.match(line)]
    return [piece for piece in pieces if len(re.findall(r"\w+", MARKUP.sub(" ", piece))) >= MIN_WORDS]


def without(sentence: str, source: str) -> str:
    """The template's source without a sentence; its conditions and loops stay balanced."""
    return source.replace(sentence, "".join(TEMPLATE_TAG.findall(sentence)))


def rendered(contexts: Sequence[Any], sources: Mapping[str, str]) -> str:
    """The text of a request made from changed templates."""
    templates = [prompts._engine().from_string(source) for source in sources.values()]
    fields = [prompts._StrictContext(prompts._Fields(context)) for context in contexts]
    return "\n".join(template.render(context) for template in templates for context in fields)


def sources_of(skill: str) -> dict[str, str]:
    return {part: (TEMPLATES / skill / part).read_text() for part in PARTS}


@each_rule
@pytest.mark.requirement("N34", "N35", "N36", "N37", "N38", "N43")
def test_the_request_contains_the_rule(rule: PromptRule, sent: Callable[[str], Sent]) -> None:
    text = sent(rule.skill).text
    assert [words for words in rule.words if words not in text] == []


@each_rule
def test_without_its_words_the_request_lacks_the_rule(rule: PromptRule, sent: Callable[[str], Sent]) -> None:
    """Nothing else in the request, such as a tool's description, stands in for them."""
    sources = sources_of(rule.skill)
    contexts = sent(rule.skill).contexts
    assert rule.stands_in(rendered(contexts, sources))
    told = [(part, one) for part, source in sources.items() for one in sentences(source) if rule.is_told_by(one)]
    assert told
    for part, sentence in told:
        changed = {**sources, part: without(sentence, sources[part])}
        assert not rule.stands_in(rendered(contexts, changed))


@each_skill
def test_no_sentence_of_a_prompt_can_be_deleted_unnoticed(skill: str, sent: Callable[[str], Sent]) -> None:
    rules = [rule for rule in RULES if rule.skill == skill]
    contexts, sources = sent(skill).contexts, sources_of(skill)
    unnoticed = []
    for part, source in sources.items():
        for sentence in sentences(source):
            text = rendered(contexts, {**sources, part: without(sentence, source)})
            unnoticed += [sentence] if all(rule.stands_in(text) for rule in rules) else []
    assert unnoticed == []


def test_the_table_names_each_rule_once() -> None:
    words = [(rule.skill, words) for rule in RULES for words in rule.words]
    assert len(words) == len(set(words))
