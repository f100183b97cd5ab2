"""The offline model over HTTP: it detects commitments in English and leaves other languages unread."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from llm.client import Client
from llm.types import Endpoint, ModelSpec
from tests.processes import ScriptedModel
from tools.evaluation.builtins import builtin_tools_for
from tools.evaluation.cases import Case, Part, load_cases
from tools.evaluation.reader import read_cases
from tools.evaluation.score import CaseReading, tally
from tools.evaluation.unseen_cases import UnseenSet, load_unseen

GOAL = 0.97
# For answers that nobody has tuned to, precision and recall.
UNSEEN_GOAL = (0.95, 0.97)


async def ask(model: ScriptedModel, cases: Sequence[Case]) -> list[CaseReading]:
    client = Client()
    spec = ModelSpec(Endpoint(model.base_url, trusted=True), "offline-fast")
    try:
        return await read_cases(cases, client=client, model=spec, tools_for=builtin_tools_for)
    finally:
        await client.aclose()


async def test_english_reaches_the_goal(model: ScriptedModel) -> None:
    reads = await ask(model, load_cases(["en"]))
    assert not any(read.error for read in reads)
    assert tally(reads).holds(GOAL)
    assert tally(read for read in reads if read.case.part is Part.SEEN).holds(GOAL)


async def test_answers_that_nobody_tuned_to_reach_their_goal(model: ScriptedModel) -> None:
    counted = tally(await ask(model, load_unseen(UnseenSet.SECOND)))
    assert counted.precision is not None
    assert counted.recall is not None
    assert (counted.precision >= UNSEEN_GOAL[0], counted.recall >= UNSEEN_GOAL[1]) == (True, True)


async def test_the_first_unseen_set_reaches_the_goal_after_it_was_read(model: ScriptedModel) -> None:
    assert tally(await ask(model, load_unseen(UnseenSet.FIRST))).holds(GOAL)


@pytest.mark.parametrize("language", ["de", "es", "fr", "tr"])
async def test_other_languages_are_not_guessed(model: ScriptedModel, language: str) -> None:
    """It knows only its own sentences in four of them: few are found, none wrongly."""
    counted = tally(await ask(model, load_cases([language])))
    assert counted.precision in (None, 1.0)
    assert counted.recall is not None
    assert counted.recall < 0.5


async def test_a_failed_call_has_no_outcomes(model: ScriptedModel) -> None:
    case = load_cases(["tr"])[0]
    spec = ModelSpec(Endpoint("http://127.0.0.1:1/v1", trusted=True), "nobody")
    client = Client()
    try:
        [read] = await read_cases([case], client=client, model=spec, tools_for=builtin_tools_for)
    finally:
        await client.aclose()
    assert read.error.startswith("unavailable")
    assert read.outcomes == {}
