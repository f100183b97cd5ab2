"""The labeled pairs of the prompts' rules: each rule has one, each pair tells right from wrong, and a model is scored."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from conversations.evaluation.rules.reader import (
    pair_request,
    reply_pairs,
    thoughts_pairs,
    thoughts_request,
    written_rule_readings,
)
from conversations.management.commands import evaluate
from llm.client import Client
from llm.types import Endpoint, ModelSpec
from tests.conversations.prompts.rules import RULES
from tests.processes import ScriptedModel
from tools.engine.skills.detect import Rule
from tools.evaluation.builtins import builtin_tools_for
from tools.evaluation.cases import load_cases
from tools.evaluation.reader import in_parallel
from tools.evaluation.rules.checks import Check, CheckedPair, holds_all
from tools.evaluation.rules.pairs import DetectionCase, RerankCase, arguments_pairs, detection_cases, rerank_cases
from tools.evaluation.rules.reader import Reading, rule_readings
from tools.evaluation.rules.score import RuleReading, RuleScore, rule_table, score_rules

WRITTEN = (*arguments_pairs(), *thoughts_pairs(), *reply_pairs())
EXCLUSIONS = {f"detect.{rule}" for rule in Rule}
# Rules without a pair, with the reason.
NOT_LABELED = {
    **{f"{skill}.task": "every other pair measures it" for skill in ("detect", "rerank", "arguments", "thoughts")},
    "detect.relayed": "a case has no words that a tool told",
    "detect.time": "a case says what is promised, not for when",
    **{rule.id: "a realtime model reads it in a voice session" for rule in RULES if rule.skill == "session"},
    **{rule.id: "a colleague reads the draft before it is sent" for rule in RULES if rule.skill == "draft"},
    **{rule.id: "a colleague reads it beside the original" for rule in RULES if rule.skill == "translate"},
}

each_written = pytest.mark.parametrize("pair", WRITTEN, ids=lambda pair: pair.rule)


def grouped(cases: Iterable[Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for case in cases:
        found.setdefault(case.rule, []).append(case)
    return found


DETECTION: dict[str, list[DetectionCase]] = grouped(detection_cases())
RERANK: dict[str, list[RerankCase]] = grouped(rerank_cases())


def test_each_rule_has_a_pair_or_a_reason() -> None:
    labeled = {*DETECTION, *RERANK, *(pair.rule for pair in WRITTEN)}
    assert not labeled & NOT_LABELED.keys()
    assert labeled | NOT_LABELED.keys() == {rule.id for rule in RULES}


@pytest.mark.requirement("N34", "N35", "N36", "N37", "N38")
@pytest.mark.parametrize("rule", DETECTION)
def test_a_tool_fires_in_one_answer_and_is_held_back_in_the_other(rule: str) -> None:
    fires, held = DETECTION[rule]
    assert fires.as_case().expects_to_fire or fires.unserved
    assert not held.as_case().expects_to_fire
    assert not held.unserved


@pytest.mark.parametrize("rule", sorted(EXCLUSIONS & DETECTION.keys()))
def test_the_tool_that_fires_is_the_one_the_rule_holds_back(rule: str) -> None:
    fires, held = DETECTION[rule]
    outcome = rule.removeprefix("detect.")
    assert held.expect == dict.fromkeys(fires.as_case().expects_to_fire, outcome)


@pytest.mark.parametrize("rule", RERANK)
def test_the_rivals_win_one_answer_each(rule: str) -> None:
    one, other = RERANK[rule]
    assert {one.winner, other.winner} == {*one.rivals} == {*other.rivals}


def test_the_labeled_tools_are_offered() -> None:
    for case in detection_cases():
        offered = {tool.name for tool in builtin_tools_for(case.as_case()) if tool.is_offered}
        assert case.expect.keys() <= offered, case.rule


@each_written
def test_the_checks_tell_the_two_answers_apart(pair: CheckedPair) -> None:
    assert holds_all(pair.checks, pair.keeps)
    assert not holds_all(pair.checks, pair.breaks)


@pytest.mark.parametrize("pair", [*thoughts_pairs(), *reply_pairs()], ids=lambda pair: pair.rule)
def test_the_prompt_of_a_pair_contains_its_rule(pair: CheckedPair) -> None:
    """A pair without the situation of its rule would measure nothing."""
    [rule] = [rule for rule in RULES if rule.id == pair.rule]
    build = thoughts_request if rule.skill == "thoughts" else pair_request
    request = build(pair, model=ModelSpec(Endpoint("http://127.0.0.1:1/v1", trusted=True), "none"))
    assert rule.stands_in("\n".join(message["content"] or "" for message in request.messages))


@pytest.mark.parametrize(
    ("check", "answer", "holds"),
    [
        (Check(has=("free",)), "It is FREE.", True),
        (Check(lacks=("free",)), "It is free.", False),
        (Check(at_most=1), "One. Two.", False),
        (Check(field="avoid", at_least=1), {"avoid": []}, False),
        (Check(field="known", lacks=("555",)), {"known": [{"field": "phone", "value": "555"}]}, False),
        (Check(field="missing", has=("x",)), {}, False),
        (Check(field="party_size", has=("^5$",)), {"party_size": 5}, True),
    ],
)
def test_a_check_reads_texts_lists_and_numbers(check: Check, answer: Any, holds: bool) -> None:
    assert check.holds(answer) is holds


async def readings(url: str, *rules: str) -> list[RuleReading]:
    """A model's readings of these rules, or of all."""
    client = Client()
    spec = ModelSpec(Endpoint(f"{url}/v1", trusted=True), "offline-fast")
    asked: Sequence[Reading] = [
        *rule_readings(client, lambda skill: spec),
        *written_rule_readings(client, lambda skill: spec),
    ]
    try:
        return await in_parallel([one for one in asked if not rules or rule_of(one) in rules])
    finally:
        await client.aclose()


def rule_of(reading: Any) -> str:
    """The rule of a reading that has not been awaited yet."""
    first = reading.args[0]
    return str(getattr(first, "rule", first))


def verdict(tool: str, conditions: Iterable[str]) -> dict[str, Any]:
    met = [{"name": name, "met": True} for name in conditions]
    return {"quote": "email you the menu", "tool": tool, "conditions": met, "rule": None}


async def test_a_model_that_fires_everything_passes_half_a_pair(model: ScriptedModel) -> None:
    tools = builtin_tools_for(DETECTION["detect.offer"][0].as_case())
    [mail] = [tool for tool in tools if tool.name == "send_email_tool"]
    always = [verdict(mail.name, mail.definition.conditions)]
    model.script("detect", times=0, match=f"## {mail.name}\n", json={"verdicts": always})
    model.script("detect", times=0, json={"verdicts": []})
    assert score_rules(await readings(model.url, "detect.offer")) == {"detect.offer": RuleScore(cases=2, passed=1)}


async def test_a_model_that_ranks_one_tool_first_passes_half_a_pair(model: ScriptedModel) -> None:
    ranking = [{"reason": "r", "tool": tool, "relevance": points} for tool, points in (("send_sms_tool", 9),)]
    model.script("rerank", times=0, json={"ranking": ranking})
    assert score_rules(await readings(model.url, "rerank.exact", "rerank.ranking"))["rerank.ranking"].passed == 1


@pytest.mark.parametrize(("text", "passed"), [("Yes, I've sent it.", 0), ("Not yet, I'm on it.", 1)])
async def test_a_reply_that_claims_what_is_not_done_fails_its_rule(
    model: ScriptedModel, text: str, passed: int
) -> None:
    model.script("reply", text=text)
    assert score_rules(await readings(model.url, "reply.claims")) == {"reply.claims": RuleScore(cases=1, passed=passed)}


async def test_a_call_counts_as_the_answer_where_one_is_offered(model: ScriptedModel) -> None:
    model.script("reply", text="", tool_calls=[{"name": "check_availability", "arguments": {}}])
    assert score_rules(await readings(model.url, "reply.calls"))["reply.calls"].passed == 1


async def test_directives_are_checked(model: ScriptedModel) -> None:
    [pair] = [pair for pair in thoughts_pairs() if pair.rule == "thoughts.results"]
    model.script("thoughts", json=pair.breaks)
    assert score_rules(await readings(model.url, pair.rule))[pair.rule].failed == 1


async def test_a_failed_call_counts_apart() -> None:
    [reading] = await readings("http://127.0.0.1:1", "reply.claims")
    assert reading.error.startswith("unavailable")
    assert score_rules([reading]) == {"reply.claims": RuleScore(cases=1, errors=1)}
    assert "| reply.claims | 1 | 0 | 0 | 1 |" in rule_table([reading])


@pytest.mark.requirement("N34", "N35", "N36", "N37", "N38", "N43")
async def test_the_offline_model_follows_the_rules_of_detection_and_rerank(model: ScriptedModel) -> None:
    """It looks for no commitment beyond the tools."""
    rules = [rule for rule in (*DETECTION, *RERANK) if rule != "detect.unserved"]
    scores = score_rules(await readings(model.url, *rules))
    assert [rule for rule, score in scores.items() if score.passed < score.cases] == []
    assert len(scores) == len(rules)


def told(model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> str:
    """The command's output for one labeled answer and the rules."""
    monkeypatch.setattr(evaluate, "load_cases", lambda languages: load_cases(["en"])[:1])
    out = StringIO()
    options = ("--base-url", model.base_url, "--model", "offline-fast", *arguments)
    call_command("evaluate", *options, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_the_command_prints_and_writes_the_score_of_each_rule(
    model: ScriptedModel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    printed = told(model, monkeypatch, "--out", str(tmp_path))
    figures = json.loads((tmp_path / "evaluation.json").read_text())["prompt rule"]
    labeled = {rule.id for rule in RULES} - NOT_LABELED.keys()
    assert figures.keys() == labeled
    assert {rule for rule in labeled if f"| {rule} |" in printed} == labeled
    assert figures["detect.offer"] == {"cases": 2, "passed": 2, "failed": 0, "unanswered": 0}


def test_the_rules_are_not_asked_with_another_language(model: ScriptedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "prompt rule" not in told(model, monkeypatch, "--language", "de")
