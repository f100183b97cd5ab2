"""Tool calls that a model writes into its text: they never reach the customer, whatever chunks they arrive in."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from pydantic import BaseModel, ConfigDict

from llm.client import Client
from llm.tool_markup import MarkupFilter
from llm.types import CallRecord, ChatRequest, FinishReason, ModelSpec
from tests.llm.fault_server import DONE, FaultServer, answers, chunk, error, message, streams

pytestmark = pytest.mark.requirement("W14")

Ask = Callable[..., ChatRequest]
TOOL = {"type": "function", "function": {"name": "book", "parameters": {"type": "object"}}}
ARGUMENTS = {"who": 'Ada "the first" {}', "guests": 2}
CALL = json.dumps({"name": "book", "arguments": ARGUMENTS})
BARE = json.dumps(ARGUMENTS)

TAKEN = {
    "hermes and qwen": f"<tool_call>\n{CALL}\n</tool_call>",
    "several": f"<tool_calls>[{CALL}]</tool_calls>",
    "without its end": f"<tool_call>{CALL}",
    "llama 3.1": f"<function=book>{BARE}</function>",
    "llama's python tag": "<|python_tag|>" + CALL.replace('"arguments"', '"parameters"'),
    "mistral": f"[TOOL_CALLS] [{CALL}]",
    "new mistral": f"[TOOL_CALLS]book[ARGS]{BARE}",
    "phi and granite": f"<|tool_call|>[{CALL}]<|/tool_call|>",
    "openai's form": f'<tool_call>{{"type": "function", "function": {CALL}}}</tool_call>',
    "bare": CALL,
    "a list": f"[{CALL}]",
    "code": f"```json\n{CALL}\n```",
}
DROPPED = {
    "gemma": "```tool_code\nprint(book(guests=2))\n```",
    "xml": "<tool_call>\n<function=book>\n<parameter=guests>\n2\n</parameter>\n</function>\n</tool_call>",
    "invoke": '<function_calls>\n<invoke name="book"><parameter name="guests">2</parameter></invoke>\n</function_calls>',
    "deepseek": "<｜tool▁calls▁begin｜>book<｜tool▁calls▁end｜>",
    "not JSON": "<tool_call>{'name': 'book'}</tool_call>",
    "cut": '<tool_call>{"name": "book", "argu',
    "cut and bare": '{"name": "book", "arguments": {"gue',
    "not offered": CALL.replace("book", "fly"),
    "an end alone": "</tool_call>",
}
SPLITS = (1, 2, 3, 7, 1000)


def read(text: str, *, size: int) -> tuple[str, list[dict[str, object] | None], bool]:
    """The shown text, the arguments of the calls taken, and whether something was dropped."""
    markup = MarkupFilter({"book"})
    shown = "".join(markup.feed(text[at : at + size]) for at in range(0, len(text), size)) + markup.close()
    return shown, [call.arguments() for call in markup.calls], markup.has_dropped


@pytest.mark.parametrize("size", SPLITS)
@pytest.mark.parametrize("form", TAKEN)
def test_a_call_of_an_offered_tool_is_taken(form: str, size: int) -> None:
    assert read(f"One moment. {TAKEN[form]}", size=size) == ("One moment. ", [ARGUMENTS], False)


@pytest.mark.parametrize("size", SPLITS)
@pytest.mark.parametrize("form", DROPPED)
def test_other_markup_is_dropped(form: str, size: int) -> None:
    assert read(f"One moment. {DROPPED[form]}", size=size) == ("One moment. ", [], True)


@pytest.mark.parametrize("size", SPLITS)
@pytest.mark.parametrize(
    "text",
    [
        "3 < 4, [see above] and {curly}; `code`, <b>bold</b> and <toolbox>.",
        'As JSON: {"name": "Ada", "guests": 2}',
        '```json\n{"guests": 2}\n```',
        "[1, 2, 3]",
        "Ends with <tool",
        'Ends with {"na',
    ],
)
def test_other_text_stays_as_it_is(text: str, size: int) -> None:
    assert read(text, size=size) == (text, [], False)


@pytest.mark.parametrize("size", SPLITS)
@pytest.mark.parametrize(
    "thoughts",
    ["<think>I'll text {name}.\n</think>", f"<thinking>{CALL}</thinking>", "[THINK]<tool_call>[/THINK]", "</think>"],
)
def test_thoughts_are_no_text_and_hold_no_call(thoughts: str, size: int) -> None:
    assert read(f"{thoughts}\n\nGood evening.", size=size) == ("Good evening.", [], False)


@pytest.mark.parametrize("size", SPLITS)
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"Hm, {CALL}\n</think>\n\nGood evening.", "Good evening."),
        ("<think>Hm.</think>\nGood evening.", "Good evening."),
        ("Good evening.", "Good evening."),
    ],
)
def test_a_model_that_begins_thinking_shows_what_follows_its_thoughts(text: str, shown: str, size: int) -> None:
    markup = MarkupFilter({"book"}, begins_thinking=True)
    assert "".join(markup.feed(text[at : at + size]) for at in range(0, len(text), size)) + markup.close() == shown
    assert markup.calls == []


def test_thoughts_that_end_only_in_words_are_given_up_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("llm.tool_markup.LONGEST_THOUGHTS", 10)
    markup = MarkupFilter(begins_thinking=True)
    assert (markup.feed("Good "), markup.feed("evening.")) == ("", "Good evening.")


async def test_a_model_that_once_began_thinking_is_held_back_from_then_on(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    thinks = streams(chunk("They greet me."), chunk("</think>"), chunk("Good evening."), chunk(finish="stop"), DONE)
    url, shown = server.script("case", thinks, thinks), list[list[str]]()
    for _ in range(2):
        shown.append([])
        await client.stream(ask(url), on_text=shown[-1].append, record=records.append)
    assert ["".join(pieces) for pieces in shown] == ["They greet me.Good evening.", "Good evening."]


async def test_a_reply_without_thoughts_is_the_last_one_held_back(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    """A customer can make a model write the end of thoughts."""
    tricked = streams(chunk("</think>"), chunk("Good evening."), chunk(finish="stop"), DONE)
    plain = streams(chunk("Good "), chunk("evening."), chunk(finish="stop"), DONE)
    url, shown = server.script("case", tricked, plain, plain), list[list[str]]()
    for _ in range(3):
        shown.append([])
        await client.stream(ask(url), on_text=shown[-1].append, record=records.append)
    assert shown == [["Good evening."], ["Good evening."], ["Good ", "evening."]]


@pytest.mark.parametrize("thoughts", ["<think>Hm.</think>\n", "<think>Hm, what"])
def test_an_answer_of_thoughts_alone_is_no_answer(thoughts: str) -> None:
    assert read(thoughts, size=3) == ("", [], True)


def test_text_before_the_beginning_of_a_call_is_shown_at_once() -> None:
    assert MarkupFilter({"book"}).feed("One moment. <tool_c") == "One moment. "


async def test_a_call_in_a_streamed_text_is_a_tool_call(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    pieces = [
        chunk(part) for part in ("One moment. <to", "ol_ca", 'll>{"name": "book", "argum', 'ents": {}}</tool_', "call>")
    ]
    url = server.script("case", streams(*pieces, chunk(finish="stop"), DONE))
    shown: list[str] = []
    done = await client.stream(ask(url, tools=(TOOL,)), on_text=shown.append, record=records.append)
    assert ("".join(shown), done.text) == ("One moment. ", "One moment. ")
    assert [(call.name, call.arguments_json) for call in done.tool_calls] == [("book", "{}")]
    assert done.finish is FinishReason.TOOL_CALLS


async def test_a_call_in_a_whole_answer_is_a_tool_call(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", answers(200, message(f"<tool_call>{CALL}</tool_call>")))
    done = await client.complete(ask(url, tools=(TOOL,)), record=records.append)
    assert (done.text, [call.name for call in done.tool_calls]) == ("", ["book"])


async def test_a_call_in_the_text_is_no_second_call(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    """Some servers parse a call and leave it in the text."""
    parsed = [{"id": "a", "type": "function", "function": {"name": "book", "arguments": BARE}}]
    url = server.script("case", answers(200, message(f"<tool_call>{CALL}</tool_call>", tool_calls=parsed)))
    done = await client.complete(ask(url, tools=(TOOL,)), record=records.append)
    assert [call.id for call in done.tool_calls] == ["a"]


async def test_nothing_is_taken_as_a_call_where_no_tool_was_sent(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    refusal = error(400, "library/gemma does not support tools")
    url = server.script("case", refusal, streams(chunk(f"Hello.{CALL}"), chunk(finish="stop"), DONE))
    done = await client.stream(ask(url, tools=(TOOL,)), on_text=str, record=records.append)
    assert (done.text, done.tool_calls, done.has_dropped_markup) == ("Hello.", (), True)


async def test_a_truncated_answer_has_no_call(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", answers(200, message(f"<tool_call>{CALL}</tool_call>", finish="length")))
    done = await client.complete(ask(url, tools=(TOOL,)), record=records.append)
    assert (done.tool_calls, done.has_dropped_markup) == ((), True)


class Called(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    arguments: dict[str, str]


async def test_json_that_was_asked_for_is_no_call(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", answers(200, message('{"name": "book", "arguments": {}}')))
    assert await client.object(ask(url), schema=Called.model_json_schema(), record=records.append) == {
        "name": "book",
        "arguments": {},
    }


@dataclass
class Memory:
    """A memory without Redis."""

    kept: dict[ModelSpec, bool] = field(default_factory=dict)

    async def recall(self, model: ModelSpec) -> bool | None:
        return self.kept.get(model)

    async def keep(self, model: ModelSpec, *, begins_thinking: bool) -> None:
        self.kept[model] = begins_thinking


async def shown_by_new_processes(memory: Memory, request: ChatRequest, *, times: int) -> list[list[str]]:
    """The pieces of text that a client of each process shows."""
    shown: list[list[str]] = []
    for _ in range(times):
        client, pieces = Client(memory=memory), list[str]()
        await client.stream(request, on_text=pieces.append, record=str)
        await client.aclose()
        shown.append(pieces)
    return shown


THINKS = streams(chunk("They greet me."), chunk("</think>"), chunk("Good evening."), chunk(finish="stop"), DONE)
PLAIN = streams(chunk("Good "), chunk("evening."), chunk(finish="stop"), DONE)


async def test_what_one_process_learned_of_a_models_thoughts_holds_in_others(server: FaultServer, ask: Ask) -> None:
    """Until a reply without thoughts shows that they are gone."""
    request = ask(server.script("case", THINKS, THINKS, PLAIN, PLAIN))
    shown = await shown_by_new_processes(Memory(), request, times=4)
    assert ["".join(pieces) for pieces in shown[:2]] == ["They greet me.Good evening.", "Good evening."]
    assert shown[2:] == [["Good evening."], ["Good ", "evening."]]


@pytest.mark.parametrize(
    "name", ["deepseek-r1:8b", "deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "Qwen3-4B-Thinking-2507", "qwq"]
)
async def test_a_model_that_thinks_by_its_name_shows_no_thoughts_even_at_first(
    name: str, server: FaultServer, ask: Ask
) -> None:
    request = ask(server.script("case", THINKS), model=name)
    assert await shown_by_new_processes(Memory(), request, times=1) == [["Good evening."]]


async def test_such_a_model_whose_server_parses_its_thoughts_is_held_back_once(server: FaultServer, ask: Ask) -> None:
    request = ask(server.script("case", PLAIN, PLAIN), model="deepseek-r1")
    assert await shown_by_new_processes(Memory(), request, times=2) == [["Good evening."], ["Good ", "evening."]]


async def test_nothing_is_remembered_of_a_model_that_does_not_think(server: FaultServer, ask: Ask) -> None:
    memory = Memory()
    assert await shown_by_new_processes(memory, ask(server.script("case", PLAIN)), times=1) == [["Good ", "evening."]]
    assert memory.kept == {}
