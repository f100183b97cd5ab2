from __future__ import annotations

import urllib.error
import urllib.request
from dataclasses import dataclass

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.processes import ForkServer, until

TOKEN = "scrape"


@dataclass(frozen=True)
class Answer:
    """A response of `/metrics`."""

    status: int
    text: str
    content_type: str

    def value(self, name: str, **labels: str) -> float | None:
        """The sum of the samples with these labels; None if there are none."""
        found = [value for _, value in self.samples(name, **labels)]
        return sum(found) if found else None

    def samples(self, name: str, **labels: str) -> list[tuple[dict[str, str], float]]:
        return [
            (sample.labels, sample.value)
            for family in text_string_to_metric_families(self.text)
            for sample in family.samples
            if sample.name == name and labels.items() <= sample.labels.items()
        ]


def ask(url: str, *, authorization: str | None = f"Bearer {TOKEN}", method: str = "GET") -> Answer:
    request = urllib.request.Request(url, method=method)
    if authorization is not None:
        request.add_header("Authorization", authorization)
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return Answer(response.status, response.read().decode(), response.headers["Content-Type"])
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.read().decode(), error.headers["Content-Type"])


def page_with(web: str, name: str, *, least: float = 1e-9, **labels: str) -> Answer:
    """The metrics, once they have a sample like this of at least this value; by default, of more than zero.

    Values are recorded twice a second, one metric after the other: a page may show the first of a request before the last.
    """
    return until(
        lambda: (page := ask(f"{web}/metrics")) and (page.value(name, **labels) or 0) >= least and page,
        what=f"{name} {labels}",
    )


@pytest.fixture
def web(processes: ForkServer) -> str:
    """The address of a web process."""
    return processes.web()[1]
