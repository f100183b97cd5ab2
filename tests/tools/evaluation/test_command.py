"""`manage.py evaluate`: its table, its files, its exit codes."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.conftest import Tenant
from tests.processes import ScriptedModel
from tools.evaluation.kept import keep_case

SMS = "send_sms_tool"


def evaluate(model: ScriptedModel, *arguments: str) -> str:
    out = StringIO()
    call_command(
        "evaluate", "--base-url", model.base_url, "--model", "offline-fast", *arguments, stdout=out, stderr=StringIO()
    )
    return out.getvalue()


def refusal(model: ScriptedModel, *arguments: str) -> CommandError:
    with pytest.raises(CommandError) as refused:
        evaluate(model, *arguments)
    return refused.value


def test_an_unseen_set_is_read_instead_of_the_languages(model: ScriptedModel) -> None:
    told = evaluate(model, "--unseen", "second", "--misses", "--threshold", "0")
    assert "offline-fast, 211 cases" in told
    assert "second-" not in told


def test_a_language_below_the_threshold_exits_with_1(model: ScriptedModel) -> None:
    refused = refusal(model, "--language", "tr")
    assert refused.returncode == 1
    assert str(refused) == "Below 0.97: tr."


def test_a_language_above_the_threshold_exits_with_0(model: ScriptedModel) -> None:
    assert "| tr |" in evaluate(model, "--language", "tr", "--threshold", "0")


def test_an_unknown_language_exits_with_2(model: ScriptedModel) -> None:
    assert refusal(model, "--language", "xx").returncode == 2


def test_the_score_and_plot_are_written(model: ScriptedModel, tmp_path: Path) -> None:
    evaluate(model, "--language", "tr", "--threshold", "0", "--out", str(tmp_path))
    figures: dict[str, Any] = json.loads((tmp_path / "evaluation.json").read_text())
    assert (figures["model"], figures["errors"]) == ("offline-fast", 0)
    assert set(figures["language"]["tr"]) == {"right", "wrong", "missed", "precision", "recall"}
    assert (tmp_path / "evaluation.svg").read_text().startswith("<svg")


def test_a_kept_case_is_evaluated_with_the_projects_tools(model: ScriptedModel, tenant: Tenant) -> None:
    with tenant.tx():
        keep_case(
            tenant.project, name="text", answer="I'll text you the address.", channel="chat", expected={SMS: "fired"}
        )
    told = evaluate(model, "--language", "tr", "--threshold", "0", "--project", tenant.project.slug)
    assert "| kept | 1 | 0 | 0 | 1.000 | 1.000 |" in told


def test_a_misread_kept_case_exits_with_1(model: ScriptedModel, tenant: Tenant) -> None:
    with tenant.tx():
        keep_case(tenant.project, name="wrong", answer="I'll text you.", channel="chat", expected={SMS: "offer"})
    refused = refusal(model, "--language", "tr", "--project", tenant.project.slug)
    assert str(refused) == "Below 0.97: tr, kept."


def test_an_unknown_project_exits_with_2(model: ScriptedModel, database: None) -> None:
    assert refusal(model, "--project", "no-such").returncode == 2
