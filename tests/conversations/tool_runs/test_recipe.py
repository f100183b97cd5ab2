"""The recipes of CONTRIBUTING.md work: one new file offers the model a tool."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import tools.builtin
from conversations.voice.tool_calls import LiveCall, handle_tool_call
from tests.conversations.tool_runs.turns import Turns
from tests.test_architecture import ROOT
from tools.engine.function_calling.contexts import BrowserVoiceContext
from tools.engine.registry import builtin_tools

RECIPES = ("To add a tool that the agent uses while it answers", "To add a voice tool", "To add a task tool")
NAMED = re.compile(r"`([a-z_]+(?:/[a-z_]+)*\.(?:py|js))`")
FILE = """
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field

from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, always, define
from tools.engine.execution.handler import Handler, ToolContext
from tools.engine.execution.outcome import Outcome


class Word(BaseModel):
    word: str = Field(max_length=40, description="The word whose letters are counted.")


async def execute(arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    letters = len(Word.model_validate(arguments).word)
    return Outcome.done(f"It has {letters} letters.", block={"type": "letters", "letters": letters})


TOOL = BuiltinTool(
    name="count_letters",
    kind="",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=always,
    definition=define("Counts the letters of a word."),
    handler=Handler(execute=execute, arguments=Word),
    moments=(Trigger.TURN, Trigger.LIVE),
    section="### Letters\\n- Call `count_letters` rather than count yourself.",
)
"""


@pytest.fixture
def new_file(tmp_path: Path) -> Iterator[None]:
    """Add the file to its folder's tools in this process inside the context."""
    (tmp_path / "count_letters.py").write_text(FILE)
    tools.builtin.__path__.append(str(tmp_path))
    builtin_tools.cache_clear()
    yield
    tools.builtin.__path__.remove(str(tmp_path))
    sys.modules.pop("tools.builtin.count_letters", None)
    builtin_tools.cache_clear()


def recipe(title: str) -> str:
    return (ROOT / "CONTRIBUTING.md").read_text().partition(f"## {title}\n")[2].partition("\n## ")[0]


@pytest.mark.requirement("F16", "W15")
def test_one_file_adds_a_tool(turns: Turns, new_file: None) -> None:
    """It is offered with its section, called by its name, and answers the model and the widget."""
    turns.calls_tool("count_letters", {"word": "focaccia"})
    turns.says("It has eight.")
    turn = turns.say("How many letters has focaccia?")
    asked = turns.asked()[0]
    assert "count_letters" in asked["tools"]
    assert "### Letters" in asked["messages"][0]["content"]
    assert turns.result(turn) == "It has 8 letters."
    assert turns.block(turn) == {"type": "letters", "letters": 8}


@pytest.mark.requirement("L20")
def test_one_file_adds_a_voice_tool(turns: Turns, new_file: None) -> None:
    call = turns.on("webcall")
    answer = asyncio.run(
        handle_tool_call(
            LiveCall(
                organization_id=call.tenant.organization.pk,
                project_id=call.tenant.project.pk,
                conversation_id=call.conversation.pk,
                call_id="1",
                name="count_letters",
                arguments_json='{"word": "pane"}',
                context=BrowserVoiceContext(business_id=call.tenant.project.pk),
            )
        )
    )
    assert (answer.result, answer.block) == ("It has 4 letters.", {"type": "letters", "letters": 4})


@pytest.mark.requirement("F16")
def test_without_its_file_there_is_no_tool() -> None:
    assert "count_letters" not in builtin_tools()


@pytest.mark.requirement("F16", "L20", "W15")
@pytest.mark.parametrize("title", RECIPES)
def test_a_recipe_refers_to_existing_files(title: str) -> None:
    """All files it refers to."""
    text = recipe(title)
    assert len(re.findall(r"^\d\. ", text, re.MULTILINE)) >= 4
    for name in NAMED.findall(text):
        assert any((folder / name).is_file() for folder in (ROOT, ROOT / "tools" / "builtin")), name
