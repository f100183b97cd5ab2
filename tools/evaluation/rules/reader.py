"""Asks a model about the pairs of detection, rerank and arguments, with the product's own requests."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from functools import partial
from typing import Any

from llm.client import Client
from llm.errors import LlmError
from llm.types import CallRecord, ModelSpec
from projects.models.agent_config import Skill
from tools.engine.analysis.conflicts import resolve_conflicts
from tools.engine.skills.arguments import ExtractionContext, KnownFact, generate_object_by_schema
from tools.engine.skills.detect import TranscriptLine
from tools.engine.verdicts import FIRES, Judgement
from tools.evaluation.builtins import builtin_tools_for
from tools.evaluation.cases import Case, Part
from tools.evaluation.reader import exchange_of, read_cases
from tools.evaluation.rules.checks import CheckedPair, holds_all
from tools.evaluation.rules.pairs import DetectionCase, RerankCase, arguments_pairs, detection_cases, rerank_cases
from tools.evaluation.rules.score import RuleReading

ModelOf = Callable[[Skill], ModelSpec]
Reading = Callable[[], Awaitable[RuleReading]]
# The situation of the arguments' pairs; each pair changes what its rule is about.
SITUATION = {
    "business_name": "Harbour Bistro",
    "business_context": "Harbour Bistro, 7 Harbour Lane. Phone: +1 415 555 0170.",
    "now": "Monday 16 November 2026, 13:00",
    "known": [],
    "earlier": [],
    "messages": [],
}
SCHEMA = {
    "type": "object",
    "properties": {
        "date": {"type": ["string", "null"]},
        "time": {"type": ["string", "null"]},
        "party_size": {"type": ["integer", "null"]},
        "phone": {"type": ["string", "null"]},
        "email": {"type": ["string", "null"]},
        "order_number": {"type": ["string", "null"]},
        "text": {"type": ["string", "null"], "description": "The text that is sent to the customer."},
    },
    "required": ["date", "time", "party_size", "phone", "email", "order_number", "text"],
    "additionalProperties": False,
}


def rule_readings(client: Client, model_of: ModelOf) -> Iterable[Reading]:
    """One reading per case, to be awaited in any order. A failed call is a reading with its error."""
    for case in detection_cases():
        yield partial(_read_detection, case, client=client, model=model_of("detect"))
    for rivalry in rerank_cases():
        ask = partial(_names_winner, rivalry, client=client, model=model_of("detect"))
        yield partial(answered, rivalry.rule, ask=ask)
    for pair in arguments_pairs():
        yield partial(answered, pair.rule, ask=partial(_extracts, pair, client=client, model=model_of("arguments")))


async def answered(rule: str, *, ask: Callable[[], Awaitable[bool]]) -> RuleReading:
    """The reading of a case, from the answer to its call."""
    try:
        return RuleReading(rule, await ask())
    except LlmError as error:
        return RuleReading(rule, passed=False, error=f"{error.code}: {error}")


async def _read_detection(case: DetectionCase, *, client: Client, model: ModelSpec) -> RuleReading:
    """Passed if exactly the expected tools fire, and each labeled one is held back by the rule named."""
    [read] = await read_cases([case.as_case()], client=client, model=model, tools_for=builtin_tools_for)
    is_named = all(read.outcomes.get(tool) == outcome for tool, outcome in case.expect.items())
    is_served = case.unserved is None or case.unserved == bool(read.unserved)
    return RuleReading(case.rule, not read.error and read.is_right and is_named and is_served, read.error)


async def _names_winner(case: RerankCase, *, client: Client, model: ModelSpec) -> bool:
    asked = Case(
        id=case.rule,
        language="en",
        part=Part.SEEN,
        channel=case.channel,
        conversation=case.conversation,
        answer=case.answer,
        expect={},
    )
    rivals = [
        Judgement(tool=tool, fired=True, rule="", reason=FIRES, quote=case.answer, conditions={})
        for tool in builtin_tools_for(asked)
        if tool.name in case.rivals
    ]
    resolved = await resolve_conflicts(
        client, model, contested={"rule": rivals}, exchange=exchange_of(asked), record=forget
    )
    return resolved["rule"].winner == case.winner


async def _extracts(pair: CheckedPair, *, client: Client, model: ModelSpec) -> bool:
    given: dict[str, Any] = {**SITUATION, **pair.context}
    task, quote = given.pop("task"), given.pop("quote", "")
    lines = [TranscriptLine(**line) for line in given.pop("messages")]
    known = [KnownFact(**fact) for fact in given.pop("known")]
    found = await generate_object_by_schema(
        client,
        model,
        schema=SCHEMA,
        task=task,
        quote=quote,
        extraction_context=ExtractionContext(**given, known=known, messages=lines),
        record=forget,
    )
    return holds_all(pair.checks, found)


def forget(record: CallRecord) -> None:
    """Discard the call record; an evaluation keeps only the score."""
