"""Pictures in requests: shown to models that see, and left out for those that don't."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from llm.client import Client
from llm.types import CallRecord, ChatRequest, Picture
from llm.wire import UNSEEN
from tests.llm.fault_server import DONE, FaultServer, chunk, error, streams

Ask = Callable[..., ChatRequest]
STREAM = streams(chunk("Hello"), chunk(finish="stop"), DONE)
PICTURES = (Picture("image/png", b"one"), Picture("image/jpeg", b"two"))


async def test_pictures_follow_the_text_of_the_last_user_message(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", STREAM)
    await client.stream(ask(url, pictures=PICTURES), on_text=str, record=records.append)
    [exchange] = server.requests["case"]
    assert exchange.body["messages"][-1]["content"] == [
        {"type": "text", "text": "Hello"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,b25l"}},
        {"type": "image_url", "image_url": {"url": "data:image/jpeg;base64,dHdv"}},
    ]


async def test_a_record_holds_no_picture(
    server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    url = server.script("case", STREAM)
    await client.stream(ask(url, pictures=PICTURES), on_text=str, record=records.append)
    assert records[0].messages[-1] == {"role": "user", "content": "Hello"}


@pytest.mark.parametrize(
    ("refusal", "is_known"),
    [
        (error(400, "Invalid content type. image_url is only supported by certain models."), True),
        (error(404, "No endpoints found that support image input"), True),
        (error(500, "image input is not supported - hint: you may need to provide the mmproj"), True),
        (error(400, "You uploaded an unsupported image. Please make sure your image is valid."), False),
        (error(413, "Request entity too large"), False),
        (error(422, "Input should be a valid string"), False),
    ],
)
async def test_a_refused_picture_costs_no_reply(
    refusal: object, is_known: bool, server: FaultServer, client: Client, ask: Ask, records: list[CallRecord]
) -> None:
    """The model is told that it doesn't see. Only a model that sees none gets no picture the next time."""
    url = server.script("case", refusal, STREAM)
    for _ in range(2):
        done = await client.stream(ask(url, pictures=PICTURES), on_text=str, record=records.append)
        assert done.text == "Hello"
    shown = [exchange.body["messages"][-1]["content"] for exchange in server.requests["case"]]
    assert [isinstance(content, list) for content in shown] == [True, False, not is_known]
    assert shown[1] == f"Hello\n\n{UNSEEN}"
