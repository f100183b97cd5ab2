"""Verdicts of tools on a text, with the quotes they rest on. Nothing is stored or executed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext

from llm.client import Client
from llm.requests import Recorder
from llm.types import ModelSpec
from projects.records.attributes import type_name
from tools.engine.analysis.whole import analyze
from tools.engine.catalogue import CompiledTool
from tools.engine.custom.current_tools import CurrentTool
from tools.engine.custom.reading import read_tools
from tools.engine.definition import ToolDefinition
from tools.engine.quotes import Span, span_of
from tools.engine.skills.detect import Exchange
from tools.engine.validation.approval import approval_problems
from tools.engine.validation.definition import definition_problems
from tools.engine.validation.names import name_problems
from tools.engine.validation.problem import DefinitionRefused, Problem, join
from tools.engine.verdicts import Judgement


@dataclass(frozen=True)
class LocatedVerdict:
    """A verdict and the position of its quote; `span` is None if the answer doesn't contain it."""

    judgement: Judgement
    span: Span | None


async def try_tools(
    client: Client, model: ModelSpec, *, offered: Iterable[CompiledTool], exchange: Exchange, record: Recorder
) -> list[LocatedVerdict]:
    """All verdicts on the answer, in the order of their quotes. Raises LlmError."""
    judgements = await analyze(client, model, offered=offered, exchange=exchange, record=record)
    tried = [LocatedVerdict(judgement, span_of(judgement.quote, exchange.answer)) for judgement in judgements]
    return sorted(tried, key=lambda one: one.span.start if one.span else len(exchange.answer))


def read_drafts(document: Any) -> list[CurrentTool]:
    """Parse unsaved tools, in any accepted form. Raises DefinitionRefused if they couldn't be saved."""
    if not isinstance(document, Mapping):
        raise DefinitionRefused(
            [
                Problem(
                    "tools",
                    gettext("tools must be an object, not %(type)s.") % {"type": type_name(document)},
                    is_malformed=True,
                )
            ]
        )
    drafts: list[CurrentTool] = []
    problems: list[Problem] = []
    for name, definition in read_tools(document).items():
        wrong = [*name_problems(name), *definition_problems(definition), *approval_problems(name, definition)]
        problems += [problem.below(join("tools", name)) for problem in wrong]
        if not wrong:
            drafts.append(CurrentTool(name, ToolDefinition.model_validate(definition)))
    if problems:
        raise DefinitionRefused(problems)
    return drafts


def with_drafts(current: Sequence[CurrentTool], drafts: Iterable[CurrentTool]) -> list[CurrentTool]:
    """The project's tools as if the drafts were saved."""
    by_name = {tool.name: tool for tool in (*current, *drafts)}
    return list(by_name.values())
