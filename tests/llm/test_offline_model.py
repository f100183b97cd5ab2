"""The whole way: the client, HTTP, and the offline model that `bin/serve` starts."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

import pytest

from llm.client import Client
from llm.prompts import render
from llm.types import LANE_DEADLINES, CallRecord, ChatRequest, FinishReason
from tools.engine.skills.detect import ConditionLine, DetectContext, Detection, ToolLine

Ask = Callable[..., ChatRequest]


@pytest.fixture(scope="module")
def offline_url() -> Iterator[str]:
    command = [sys.executable, "-m", "offline_model", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
        process.terminate()


async def test_a_reply_streams_from_the_offline_model(
    offline_url: str, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    pieces: list[str] = []
    done = await client.stream(ask(offline_url, model="offline-large"), on_text=pieces.append, record=records.append)
    assert len(pieces) > 1
    assert (done.finish, "".join(pieces)) == (FinishReason.STOP, done.text)
    assert done.usage.output_tokens > 0
    assert (records[0].cost_usd, records[0].error_code) == (0, None)


async def test_a_detection_fits_its_schema(
    offline_url: str, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    tool = ToolLine(
        "send_sms", "Sends a text message.", [ConditionLine("agentPromisedSms", "The agent promised a text.")]
    )
    prompt = render("detect", DetectContext(tools=[tool], messages=[], answer="I'm sending you the text message now."))
    messages = [{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}]
    request = ask(offline_url, model="offline-fast", skill="detect", messages=messages, deadlines=LANE_DEADLINES)
    detection = await client.structured(request, output=Detection, record=records.append)
    assert isinstance(detection, Detection)
    assert (records[0].attempts, records[0].error_code) == (1, None)
