"""Transcriptions are recorded and priced as other model calls."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from typing import Any

import pytest
import pytest_asyncio

from llm.client import Client
from llm.errors import LlmError
from llm.prices import transcription_cost_usd
from llm.transcript import Transcript
from llm.types import CallRecord, ChatRequest, Endpoint, ModelSpec, Recording, Usage
from projects.agents import model_telemetry
from tests.llm.conftest import KEY
from tests.llm.fault_server import Behaviour, FaultServer, answers, error

PRICES = {
    "tokens": (Decimal("2.5"), Decimal(0), Decimal(10)),
    "audio": (Decimal("2.5"), Decimal(0), Decimal(10)),
    "audio:audio": (Decimal(6), Decimal(0), Decimal(0)),
    # $0.006 a minute
    "whisper:seconds": (Decimal(100), Decimal(0), Decimal(0)),
}
TOKENS: dict[str, Any] = {"type": "tokens", "input_tokens": 14, "output_tokens": 5, "total_tokens": 19}


@pytest_asyncio.fixture
async def client() -> AsyncIterator[Client]:
    client = Client(prices=PRICES)
    yield client
    await client.aclose()


@pytest.fixture
def transcribe(server: FaultServer, client: Client, records: list[CallRecord]) -> Callable[..., Any]:
    """Returns a function that has a recording of 30 s transcribed by a server that behaves as told."""

    async def run(behaviour: Behaviour, model: str = "whisper") -> str:
        spec = ModelSpec(Endpoint(server.script("case", behaviour), KEY, trusted=True), model)
        recording = Recording("voice.ogg", "audio/ogg", b"OggS", seconds=30)
        return await client.transcribe(spec, recording, deadline_s=5.0, record=records.append)

    return run


@pytest.mark.parametrize(
    ("usage", "recorded", "model", "cost"),
    [
        ({**TOKENS, "input_token_details": {"audio_tokens": 10}}, Usage(14, 0, 5), "audio", Decimal("0.00012")),
        (TOKENS, Usage(14, 0, 5), "tokens", Decimal("0.000085")),
        ({"type": "duration", "seconds": 60}, Usage(), "whisper", Decimal("0.006")),
        (None, Usage(), "whisper", Decimal("0.003")),
        ({"type": "tokens", "input_tokens": "many"}, Usage(), "other", None),
    ],
    ids=["audio tokens", "tokens", "seconds", "the recording's own length", "no price"],
)
async def test_a_transcription_is_recorded_with_its_cost(
    usage: Any, recorded: Usage, model: str, cost: Decimal | None, transcribe: Any, records: list[CallRecord]
) -> None:
    words = await transcribe(answers(200, {"text": "A table, please.", "usage": usage}), model)
    [record] = records
    assert (words, record.output, record.skill, record.messages) == (words, "A table, please.", "transcription", [])
    assert (record.usage, record.cost_usd, record.error_code) == (recorded, cost, None)


async def test_a_failed_transcription_is_recorded(transcribe: Any, records: list[CallRecord]) -> None:
    with pytest.raises(LlmError):
        await transcribe(error(500, "Out of order"))
    assert [(one.output, one.error_code, one.cost_usd) for one in records] == [("", "unavailable", None)]


def test_the_offline_model_transcribes_for_nothing() -> None:
    assert transcription_cost_usd("offline-large", Transcript("Hello", seconds=9), PRICES) == 0


async def test_a_transcription_is_an_operation_of_its_own(
    transcribe: Callable[..., Any], records: list[CallRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    spans = list[tuple[str, Any]]()
    monkeypatch.setattr(model_telemetry, "is_tracing", lambda: True)
    monkeypatch.setattr(model_telemetry, "record_span", lambda name, **span: spans.append((name, span["attributes"])))
    await transcribe(answers(200, {"text": "Hello"}))
    spec = ModelSpec(Endpoint("http://127.0.0.1", KEY, trusted=True), "whisper")
    request = ChatRequest(skill=records[0].skill, template_hash="", model=spec, messages=[])
    model_telemetry.observe_call(request, records[0])
    [(name, attributes)] = spans
    assert (name, attributes["gen_ai.operation.name"]) == ("transcription whisper", "transcription")
