"""Schemathesis against a running web process: requests made from the OpenAPI document that it serves."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.processes import ROOT

CONFIG = Path(__file__).with_name("schemathesis.toml")
CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "positive_data_acceptance",
    "negative_data_rejection",
    "ignored_auth",
)


@dataclass(frozen=True)
class FuzzedRun:
    """A finished run: the number of requests with generated data, and what it printed, with a curl command per failure."""

    is_clean: bool
    cases: int
    output: str


def fuzz(
    base_url: str, key: str, *, directory: Path, phases: Sequence[str], examples: int, options: Sequence[str] = ()
) -> FuzzedRun:
    """Run the phases, with that many examples per operation where the phase doesn't choose them itself."""
    report = directory / "report.json"
    command = [
        *(sys.executable, "-m", "tests.api.fuzzing"),
        *("--config-file", str(CONFIG), "run", f"{base_url}/api/v1/schema/?format=json", "--no-color"),
        *("--phases", ",".join(phases), "--checks", ",".join(CHECKS), "--max-examples", str(examples)),
        *("--report", "json", "--report-json-path", str(report)),
        *options,
    ]
    env = {**os.environ, "MAKEGOOD_FUZZED_KEY": key}
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    assert report.exists(), output[-4_000:]
    return FuzzedRun(done.returncode == 0, _cases(json.loads(report.read_text())), output)


def _cases(report: dict[str, Any]) -> int:
    """The number of requests. A run that was cut short has none."""
    return int(report["test_cases"]["generated"]) if report["complete"] else 0
