"""Trying tools on a text: the verdicts, and the words they rest on. Nothing is stored or done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from llm.client import Client
from llm.requests import Recorder
from llm.types import ModelSpec
from projects.records.attributes import type_name
from tools.engine.analysis.whole import analyse
from tools.engine.catalogue import CompiledTool
from tools.engine.custom.current_tools import StandingTool
from tools.engine.custom.reading import read_tools
from tools.engine.definition import ToolDefinition
from tools.engine.skills.exchange import Exchange
from tools.engine.validation.approval import approval_problems
from tools.engine.validation.definition import definition_problems
from tools.engine.validation.names import name_problems
from tools.engine.validation.problem import DefinitionRefused, Problem, join
from tools.engine.verdicts import Judgement


@dataclass(frozen=True)
class Span:
    """Where words stand in the answer, in characters; `end` is behind the last one."""

    start: int
    end: int


@dataclass(frozen=True)
class Tried:
    """A verdict, and where its words stand; `span` is None where the answer doesn't hold them."""

    judgement: Judgement
    span: Span | None


async def try_tools(
    client: Client, model: ModelSpec, *, offered: Iterable[CompiledTool], exchange: Exchange, record: Recorder
) -> list[Tried]:
    """All verdicts on the exchange's answer, in the order of the words they rest on. Raises LlmError."""
    judgements = await analyse(client, model, offered=offered, exchange=exchange, record=record)
    tried = [Tried(judgement, span_of(judgement.quote, exchange.answer)) for judgement in judgements]
    return sorted(tried, key=lambda one: one.span.start if one.span else len(exchange.answer))


def read_drafts(document: Any) -> list[StandingTool]:
    """Tools that were never saved, in the forms that may be pasted. Raises DefinitionRefused where they couldn't be saved."""
    if not isinstance(document, Mapping):
        raise DefinitionRefused([Problem("tools", f"tools must be an object, not {type_name(document)}.")])
    drafts: list[StandingTool] = []
    problems: list[Problem] = []
    for name, definition in read_tools(document).items():
        wrong = [*name_problems(name), *definition_problems(definition), *approval_problems(name, definition)]
        problems += [problem.below(join("tools", name)) for problem in wrong]
        if not wrong:
            drafts.append(StandingTool(name, ToolDefinition.model_validate(definition)))
    if problems:
        raise DefinitionRefused(problems)
    return drafts


def with_drafts(standing: Sequence[StandingTool], drafts: Iterable[StandingTool]) -> list[StandingTool]:
    """The project's tools as they would be, were the drafts saved."""
    by_name = {tool.name: tool for tool in (*standing, *drafts)}
    return list(by_name.values())


def span_of(quote: str, answer: str) -> Span | None:
    """Where the answer holds the quote, whatever its letters' case."""
    start = answer.find(quote) if quote else -1
    if start < 0 and quote and len(answer.lower()) == len(answer):
        start = answer.lower().find(quote.lower())
    return Span(start, start + len(quote)) if start >= 0 else None
