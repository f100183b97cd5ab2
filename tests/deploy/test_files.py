"""The files for containers, systemd and Kubernetes name commands, probes and settings that exist."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.urls import resolve

from config.runner.run import read_arguments

ROOT = Path(__file__).resolve().parents[2]
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))
CHART = ROOT / "deploy" / "helm" / "makegood"
OURS = ("web", "replies", "work", "beat", "prepare", "model")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "compose.yaml").read_text())  # type: ignore[no-any-return]


def settings() -> set[str]:
    """The variables that docs/settings.md lists."""
    return set(re.findall(r"`([A-Z][A-Z_]+)`", (ROOT / "docs" / "settings.md").read_text()))


@pytest.mark.parametrize("name", OURS)
def test_our_containers_write_nothing_and_have_no_privileges(compose: dict[str, Any], name: str) -> None:
    service = compose["services"][name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["tmpfs"] == ["/tmp"]  # noqa: S108 - the container's own


@pytest.mark.parametrize(("name", "number"), [("web", 2), ("replies", 2), ("work", 2)])
def test_each_process_runs_twice(compose: dict[str, Any], name: str, number: int) -> None:
    service = compose["services"][name]
    assert read_arguments(service["command"][1:]).kind == name
    assert service["deploy"]["replicas"] == number
    assert service["depends_on"] == {"prepare": {"condition": "service_completed_successfully"}}


def test_containers_get_only_documented_settings(compose: dict[str, Any]) -> None:
    given = {name for service in OURS for name in compose["services"][service]["environment"]}
    assert given - settings() - {"ADMIN_URL", "MAKEGOOD_METRICS_ADDRESS", "MAKEGOOD_METRICS_TOKEN"} == set()


def test_the_compose_file_needs_only_secrets_that_are_made() -> None:
    needed = set(re.findall(r"\$\{([A-Z_]+)\}", (ROOT / "compose.yaml").read_text()))
    made = set(re.findall(r"\b[A-Z_]{8,}\b", (ROOT / "deploy" / "new-secrets").read_text()))
    assert needed - made == set()


def test_the_proxy_passes_streams_on_at_once() -> None:
    assert "flush_interval -1" in (ROOT / "deploy" / "Caddyfile").read_text()


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_units_start_existing_processes(unit: Path) -> None:
    [command] = re.findall(r"^ExecStart=/opt/makegood/bin/run (.+)$", unit.read_text(), re.MULTILINE)
    kind = re.split(r"[-@.]", unit.name)[1]
    assert read_arguments(shlex.split(command.replace("%i", "1"))).kind == kind


def test_the_target_wants_every_unit() -> None:
    wanted = re.findall(r"makegood-[a-z]+@?\d?\.service", (ROOT / "deploy/systemd/makegood.target").read_text())
    assert {re.sub(r"\d", "", name) for name in wanted} == {unit.name for unit in UNITS}


def test_the_charts_probes_exist() -> None:
    text = "".join(path.read_text() for path in CHART.rglob("*.yaml"))
    paths = set(re.findall(r"httpGet: \{path: ([^,]+),", text))
    assert paths == {"/livez", "/healthz"}
    for path in paths:
        resolve(path)
    assert (ROOT / "bin" / "probe").stat().st_mode & 0o111


def test_the_charts_commands_exist() -> None:
    text = "".join(path.read_text() for path in CHART.rglob("*.yaml"))
    kinds = {
        *re.findall(r'\(list "bin/run" "(\w+)"', text),
        *yaml.safe_load((CHART / "values.yaml").read_text())["workers"],
    }
    assert {read_arguments([kind]).kind for kind in kinds} == {"web", "replies", "work", "beat"}


def test_the_image_has_the_version_of_the_chart() -> None:
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert f'version = "{chart["appVersion"]}"' in (ROOT / "pyproject.toml").read_text()
