"""Files by WhatsApp: fetched by their media id with the token, and uploaded before they are sent."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.conversations.channels.files import PNG, SVG, answer_with, until_read
from tests.conversations.channels.graph_server import ANNA, Line, text
from tests.processes import ScriptedModel

pytestmark = pytest.mark.standing_worker


def image(id: str = "1013859600285441", **changes: Any) -> dict[str, Any]:
    content = {"id": id, "mime_type": "image/png", **changes}
    return {"from": ANNA, "id": "wamid.1", "timestamp": str(int(time.time())), "type": "image", "image": content}


def test_an_image_is_fetched_with_the_token(line: Line, worker: object, model: ScriptedModel) -> None:
    line.graph.media["1013859600285441"] = PNG
    line.write(image(caption="Is this yours?"))
    message = until_read(line.tenant)
    assert (message.content, [one["name"] for one in message.attachments]) == (
        "Is this yours?\n[File: image.png]",
        ["image.png"],
    )
    assert line.graph.downloads == ["Bearer canary-access"]


def test_the_token_is_shown_to_no_other_server(line: Line, worker: object, model: ScriptedModel) -> None:
    line.graph.media["1013859600285441"] = PNG
    line.graph.media_host = "localhost"
    line.write(image())
    assert ("no address of its own" in until_read(line.tenant).content, line.graph.downloads) == (True, [])


@pytest.mark.parametrize(("content", "reason"), [(SVG, "what it was sent as"), (None, "any more")])
def test_an_image_that_is_none_leaves_a_sentence(
    content: bytes | None, reason: str, line: Line, worker: object, model: ScriptedModel
) -> None:
    if content:
        line.graph.media["1013859600285441"] = content
    line.write(image())
    message = until_read(line.tenant)
    assert (reason in message.content, message.attachments) == (True, [])


def test_a_file_of_an_answer_is_uploaded_and_sent_by_its_id(line: Line, worker: object, model: ScriptedModel) -> None:
    line.write(text())
    line.until_state("sent")
    line.graph.calls.clear()
    answer_with(line.tenant, PNG, name="map.png")
    line.until_state("sent", "sent", "sent", "sent")
    _, said, uploaded, sent = [body for _, _, body in line.graph.calls]
    assert said["text"]["body"] == "Here it is."
    assert uploaded == {"messaging_product": "whatsapp", "type": "image/png", "file": ("map.png", "image/png", PNG)}
    assert (sent["type"], sent["image"]) == ("image", {"id": "media.out"})


def test_a_failed_upload_is_tried_again(line: Line, worker: object, model: ScriptedModel) -> None:
    """It reaches no customer."""
    line.write(text())
    line.until_state("sent")
    line.graph.upload_faults = [(503, {})]
    line.graph.calls.clear()
    answer_with(line.tenant, PNG)
    line.until_state("sent", "sent", "sent", "sent")
    assert [path.rpartition("/")[2] for path, _, _ in line.graph.calls[2:]] == ["media", "media", "messages"]
