"""The Helm chart as Helm renders it. Skipped where Helm 3 or newer isn't installed."""

from __future__ import annotations

import shutil
import subprocess
from typing import Any

import pytest
import yaml

from tests.deploy.test_files import CHART

HELM = shutil.which("helm")
pytestmark = pytest.mark.skipif(HELM is None, reason="needs helm")


def render(*values: str) -> dict[tuple[str, str], Any]:
    """The chart's objects by kind and name."""
    options = [part for value in values for part in ("--set", value)]
    assert HELM
    ran = subprocess.run([HELM, "template", "mg", CHART, *options], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return {(one["kind"], one["metadata"]["name"]): one for one in yaml.safe_load_all(ran.stdout) if one}


def test_the_chart_passes_helms_lint() -> None:
    assert HELM
    ran = subprocess.run([HELM, "lint", "--strict", CHART], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout


def test_each_container_has_the_secret_and_a_read_only_file_system() -> None:
    pods = [one["spec"]["template"]["spec"] for one in render().values() if "template" in one["spec"]]
    containers = [container for pod in pods for container in pod["containers"]]
    assert [one["name"] for one in containers] == ["beat", "web", "replies", "work", "migrate"]
    for one in containers:
        assert one["envFrom"] == [{"secretRef": {"name": "makegood"}}]
        assert one["securityContext"]["readOnlyRootFilesystem"]


@pytest.mark.parametrize(
    ("value", "added"),
    [
        ("autoscaling.kind=keda", {("ScaledObject", "mg-replies"), ("ScaledObject", "mg-work")}),
        (
            "autoscaling.kind=external",
            {("HorizontalPodAutoscaler", "mg-replies"), ("HorizontalPodAutoscaler", "mg-work")},
        ),
        ("web.autoscaling.enabled=true", {("HorizontalPodAutoscaler", "mg-web")}),
        ("podMonitor.enabled=true", {("PodMonitor", "mg-metrics")}),
    ],
)
def test_a_value_adds_its_objects(value: str, added: set[tuple[str, str]]) -> None:
    assert render(value).keys() - render().keys() == added


def test_a_settings_value_stays_a_text() -> None:
    web = render("env.MAKEGOOD_SIGNUP=0")["Deployment", "mg-web"]["spec"]["template"]["spec"]["containers"][0]
    assert {"name": "MAKEGOOD_SIGNUP", "value": "0"} in web["env"]
