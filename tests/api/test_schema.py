"""The OpenAPI page."""

from __future__ import annotations

from typing import Any

import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator


@pytest.fixture
def schema() -> dict[str, Any]:
    GENERATOR_STATS.reset()
    return SchemaGenerator(urlconf="tests.api.edge").get_schema(public=True)  # type: ignore[no-any-return]


@pytest.mark.parametrize("urlconf", ["tests.api.edge", "config.urls"])
def test_it_generates_without_warnings(urlconf: str, capsys: pytest.CaptureFixture[str]) -> None:
    GENERATOR_STATS.reset()
    SchemaGenerator(urlconf=urlconf).get_schema(public=True)
    assert not GENERATOR_STATS, capsys.readouterr().err


def test_both_ways_to_sign_in_are_described(schema: dict[str, Any]) -> None:
    assert schema["components"]["securitySchemes"]["apiKey"]["scheme"] == "bearer"
    assert {"apiKey": []} in schema["paths"]["/api/v1/notes"]["get"]["security"]
    assert {"session": []} in schema["paths"]["/api/v1/notes"]["get"]["security"]


def test_every_operation_shows_the_error(schema: dict[str, Any]) -> None:
    operations = [operation for path in schema["paths"].values() for operation in path.values()]
    assert operations
    for operation in operations:
        error = operation["responses"]["default"]["content"]["application/json"]["schema"]
        assert error["properties"]["error"]["required"] == ["code", "message", "field", "request_id"]


def test_an_idempotent_post_takes_the_header(schema: dict[str, Any]) -> None:
    names = [parameter["name"] for parameter in schema["paths"]["/api/v1/notes"]["post"]["parameters"]]
    assert sorted(names) == ["Idempotency-Key", "wait"]
    assert "parameters" not in schema["paths"]["/api/v1/notes"]["get"]
