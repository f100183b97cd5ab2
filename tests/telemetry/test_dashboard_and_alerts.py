"""The dashboard and the alert rules use only metrics that exist, and expressions that Prometheus accepts."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from jobs.queue_figures import DATABASE_UP, JOBS, OLDEST_DUE
from telemetry import metrics
from telemetry.families import Family
from tenancy.replica import LAG
from tests.processes import ROOT

DASHBOARD = ROOT / "deploy" / "grafana" / "makegood.json"
ALERTS = ROOT / "deploy" / "prometheus" / "alerts.yaml"
PAGE = ROOT / "docs" / "metrics.md"
METRIC = re.compile(r"\bmakegood_[a-z_]+\b")
SELECTED = re.compile(r"\b(makegood_[a-z_]+)\{([^}]*)\}")
LABEL = re.compile(r"(\w+)(?:=~|!~|!=|=)\"")
# Labels that every metric gets: of the process, and of Prometheus.
EVERYWHERE = {"process", "instance", "job", "le"}

promtool = pytest.mark.skipif(shutil.which("promtool") is None, reason="needs promtool (Debian: prometheus)")


def dashboard() -> dict[str, Any]:
    return json.loads(DASHBOARD.read_text())


def expressions() -> list[str]:
    return [target["expr"] for panel in dashboard()["panels"] for target in panel.get("targets", ())]


def known() -> dict[str, set[str]]:
    """The labels of each name that a query may use."""
    assert metrics
    samples = {name: set(family.labels) for family in Family.all for name in family.sample_names}
    return {**samples, DATABASE_UP: set(), JOBS: {"queue", "lane", "state"}, OLDEST_DUE: {"queue", "lane"}, LAG: set()}


@pytest.mark.parametrize("text", [DASHBOARD.read_text(), ALERTS.read_text()], ids=["dashboard", "alerts"])
def test_each_metric_exists(text: str) -> None:
    used = set(METRIC.findall(text))
    assert len(used) > 10
    assert used - set(known()) == set()


@pytest.mark.parametrize("text", [" ".join(expressions()), ALERTS.read_text()], ids=["dashboard", "alerts"])
def test_each_label_exists(text: str) -> None:
    labels = known()
    wrong = {
        (name, label)
        for name, selected in SELECTED.findall(text)
        for label in LABEL.findall(selected)
        if label not in labels[name] | EVERYWHERE
    }
    assert wrong == set()


def test_the_documentation_lists_each_metric() -> None:
    listed = set(re.findall(r"^\| `(makegood_[a-z_]+)` \|", PAGE.read_text(), re.MULTILINE))
    assert listed == {family.name for family in Family.all} | {DATABASE_UP, JOBS, OLDEST_DUE, LAG}


@promtool
def test_prometheus_accepts_the_rules_and_their_tests_pass() -> None:
    for command in (["check", "rules", "alerts.yaml"], ["test", "rules", "alerts_test.yaml"]):
        ran = subprocess.run(["promtool", *command], cwd=ALERTS.parent, capture_output=True, text=True, check=False)
        assert ran.returncode == 0, ran.stdout + ran.stderr


@promtool
def test_prometheus_accepts_the_expressions_of_the_dashboard(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(expressions())]
    file = tmp_path / "rules.yaml"
    # JSON is YAML.
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}).replace("$job", ".*"))
    ran = subprocess.run(["promtool", "check", "rules", str(file)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_no_panel_covers_another() -> None:
    cells = [
        (x, y)
        for panel in dashboard()["panels"]
        for position in (panel["gridPos"],)
        for x in range(position["x"], position["x"] + position["w"])
        for y in range(position["y"], position["y"] + position["h"])
    ]
    assert len(cells) == len(set(cells))
