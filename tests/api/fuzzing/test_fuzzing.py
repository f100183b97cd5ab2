"""Every operation of the OpenAPI document, called by Schemathesis with data made from it, valid and invalid."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.api.fuzzing.schemathesis_run import fuzz
from tests.conftest import Tenant
from tests.processes import ForkServer

EXAMPLES = int(os.environ.get("FUZZED_EXAMPLES", "10"))
LEAST_CASES = 3_000
# A scenario follows few of the links, so this phase needs more examples than the others.
SCENARIOS = 10 * EXAMPLES


def test_writing_operations_conform_to_the_document(processes: ForkServer, tenant: Tenant, tmp_path: Path) -> None:
    """One example of each, the same in every run."""
    _, address = processes.web()
    alike = ("--generation-deterministic", "--exclude-method", "GET")
    run = fuzz(address, tenant.key, directory=tmp_path, phases=["fuzzing"], examples=1, options=alike)
    assert run.is_clean, run.output
    assert run.cases > 50


@pytest.mark.slow
def test_every_operation_conforms_to_the_document(processes: ForkServer, tenant: Tenant, tmp_path: Path) -> None:
    """Each answers as documented, accepts every valid request, refuses every other one, and requires a key. Links are
    followed to the objects that were created. A failure's seed and curl command are in the output.
    """
    _, address = processes.web()
    processes.worker()
    runs = [
        fuzz(address, tenant.key, directory=tmp_path, phases=phases, examples=examples)
        for phases, examples in ((("examples", "coverage", "fuzzing"), EXAMPLES), (("stateful",), SCENARIOS))
    ]
    for run in runs:
        assert run.is_clean, run.output
    assert sum(run.cases for run in runs) >= LEAST_CASES
