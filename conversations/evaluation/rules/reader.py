"""Asks a model about the pairs of the thoughts and reply prompts, with the product's own requests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter

from conversations.common.channels import traits_of
from conversations.prompts import reply, thoughts
from conversations.prompts.reply import ReplyContext
from conversations.prompts.thoughts import KeyDirectives, ThoughtsContext
from llm.client import Client
from llm.requests import reply_request, structured_request
from llm.types import ChatRequest, ModelSpec
from tools.engine.business_state import BusinessState
from tools.engine.definition import Trigger
from tools.engine.function_calling.messages import call_messages
from tools.engine.function_calling.offer import Offer, offer_at
from tools.evaluation.rules.checks import CheckedPair, holds_all
from tools.evaluation.rules.pairs import read_pairs
from tools.evaluation.rules.reader import ModelOf, Reading, answered, forget

FOLDER = Path(__file__).parent
CHANNEL = "chat"
# The values of the variables that a pair and the business leave out.
EMPTY: Mapping[str, Any] = {"bool": False, "str": "", "list": []}
Context = TypeVar("Context")


@dataclass
class PastCall:
    """A call that the model has made already, with its result."""

    name: str
    result: str
    call_id: str = "call_1"
    arguments: dict[str, Any] | None = None


def thoughts_pairs() -> list[CheckedPair]:
    return list(read_pairs(FOLDER / "thoughts.jsonl", CheckedPair))


def reply_pairs() -> list[CheckedPair]:
    return list(read_pairs(FOLDER / "reply.jsonl", CheckedPair))


def written_rule_readings(client: Client, model_of: ModelOf) -> Iterable[Reading]:
    """One reading per pair, to be awaited in any order. A failed call is a reading with its error."""
    for pair in thoughts_pairs():
        yield partial(answered, pair.rule, ask=partial(_directs, pair, client=client, model=model_of("thoughts")))
    for pair in reply_pairs():
        yield partial(answered, pair.rule, ask=partial(_replies, pair, client=client, model=model_of("reply")))


async def _directs(pair: CheckedPair, *, client: Client, model: ModelSpec) -> bool:
    written = await client.structured(thoughts_request(pair, model=model), output=KeyDirectives, record=forget)
    return holds_all(pair.checks, written.model_dump(mode="json"))


async def _replies(pair: CheckedPair, *, client: Client, model: ModelSpec) -> bool:
    """The checks read the reply's text and the names of the tools it called."""
    said = await client.complete(pair_request(pair, model=model), record=forget)
    return holds_all(pair.checks, {"text": said.text, "calls": [call.name for call in said.tool_calls]})


def thoughts_request(pair: CheckedPair, *, model: ModelSpec) -> ChatRequest:
    context = _filled(ThoughtsContext, pair.context)
    return structured_request("thoughts", context, model=model, max_output_tokens=thoughts.MAX_OUTPUT_TOKENS)


def pair_request(pair: CheckedPair, *, model: ModelSpec) -> ChatRequest:
    """The reply request of a pair. `offered` names the tools that may be called, `result` a call that was answered."""
    given = dict(pair.context)
    offer, history, past = _offer(given.pop("offered", [])), given.pop("history", []), given.pop("result", None)
    context = replace(_filled(ReplyContext, given), channel_rules=traits_of(CHANNEL).rules, tools=offer.addendum)
    context = replace(context, steps_name_tools=any(step.tools for one in context.scenarios for step in one.steps))
    request = reply_request(context, history=history, model=model, max_output_tokens=reply.MAX_OUTPUT_TOKENS)
    called = call_messages("", [PastCall(past["tool"], past["content"])]) if past else ()
    return replace(request, messages=[*request.messages, *called], tools=offer.functions)


def _offer(names: Iterable[str]) -> Offer:
    state = BusinessState(CHANNEL, has_book=True)
    return Offer({name: tool for name, tool in offer_at(Trigger.TURN, state, None).tools.items() if name in names})


def _filled(kind: type[Context], given: Mapping[str, Any]) -> Context:
    """A context with the given variables, the business's, and empty ones for the rest."""
    empty = {field.name: EMPTY.get(str(field.type).split("[")[0]) for field in fields(kind)}  # type: ignore[arg-type]
    known = {name: value for name, value in _business().items() if name in empty}
    return TypeAdapter(kind).validate_python({**empty, **known, **given})


@cache
def _business() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "business.json").read_text())
    return found
