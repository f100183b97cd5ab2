"""Voice messages, audio and videos that customers send, and stickers."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from conversations.handover.attachments import MAX_MEDIA_BYTES
from conversations.handover.media_types import detect_media, seconds_of
from conversations.models import Attachment, Conversation
from jobs.models import ModelCall, ModelUsage
from projects.agents.services import save_agent
from tests.conversations.channels.conftest import Bot
from tests.conversations.channels.files import AUDIO, JPEG, MP3, PNG, VIDEO, VOICE, until_read
from tests.conversations.channels.graph_server import ANNA, Line
from tests.conversations.channels.twilio_number import Number
from tests.processes import ScriptedModel
from tools.engine.limits.changes import set_organization_limit
from tools.models import Limit

pytestmark = pytest.mark.standing_worker

WEBP = b"RIFF\x1a\0\0\0WEBPVP8 " + bytes(40)
WEBM = b"\x1aE\xdf\xa3" + bytes(8) + b"\x42\x82\x84webm" + bytes(30)


def send(bot: Bot, kind: str, content: bytes, *, id: str = "file1", caption: str = "", **more: Any) -> None:
    bot.telegram.files[id] = content
    captioned = {"caption": caption} if caption else {}
    bot.deliver(bot.update("", **{kind: {"file_id": id, **more}}, **captioned))


def attached(bot: Bot) -> list[tuple[str, str]]:
    return [(one.name, one.content_type) for one in bot.rows(Attachment)]


@pytest.fixture
def transcribing(bot: Bot) -> Bot:
    """A bot whose project has voice messages transcribed."""
    with bot.tenant.tx():
        project = bot.tenant.project
        assert project.agent_version is not None
        config = project.agent_version.config.model_copy(update={"transcription_model": "whisper-1"})
        save_agent(project, config=config, author=None)
    return bot


@pytest.mark.parametrize(
    ("content", "kind", "seconds"),
    [
        (VOICE, "audio/ogg", 12),
        (AUDIO, "audio/mp4", 65),
        (VIDEO, "video/mp4", 65),
        (MP3, "audio/mpeg", None),
        (b"\xff\xfb\x90\x64" + bytes(40), "audio/mpeg", None),
        (WEBM + b"V_VP9", "video/webm", None),
        (WEBM + b"A_OPUS", "audio/webm", None),
        (b"\0\0\0\x18ftypheic" + bytes(40), None, None),
        (b"OggS" + bytes(24) + b"\x80theora" + bytes(40), None, None),
        (JPEG, None, None),
        (PNG, None, None),
    ],
)
def test_the_kind_follows_from_the_content(content: bytes, kind: str | None, seconds: int | None) -> None:
    assert (detect_media(content), seconds_of(content) if kind else None) == (kind, seconds)


@pytest.mark.parametrize("end", [b"", b"\0", b"\xff" * 7], ids=["cut", "short", "broken"])
def test_a_broken_file_has_no_length(end: bytes) -> None:
    for head in (b"OggS" + bytes(24) + b"OpusHead", b"OggS" + bytes(24) + b"\x01vorbis", b"\0\0\0\x18ftypisommvhd"):
        assert seconds_of(head + end) is None


def test_a_voice_message_is_kept_and_named_by_its_length(bot: Bot, worker: object, model: ScriptedModel) -> None:
    send(bot, "voice", VOICE, duration=12, mime_type="audio/ogg")
    bot.until_receipts("sent")
    assert (until_read(bot.tenant).content, attached(bot)) == ("[Voice message, 12 s]", [("voice.ogg", "audio/ogg")])
    [asked] = model.requests("reply")
    assert "Voice message, 12 s" in asked["messages"][-1]["content"].partition("<Files>")[2].partition("</Files>")[0]
    assert model.requests("transcription") == []


def test_a_transcript_is_stored_before_the_reply(transcribing: Bot, worker: object, model: ScriptedModel) -> None:
    model.script("transcription", text="A table for four,\nplease.")
    send(transcribing, "voice", VOICE, mime_type="audio/ogg")
    transcribing.until_receipts("sent")
    assert until_read(transcribing.tenant).content == "[Voice message, 12 s] A table for four, please."
    [heard], [asked] = model.requests("transcription"), model.requests("reply")
    assert (heard["model"], heard["ended"] <= asked["arrived"]) == ("whisper-1", True)
    said = asked["messages"][-1]["content"]
    assert ("[Voice message, 12 s] A table for four, please." in said, "<Files>" in said) == (True, False)


def test_a_transcription_counts_as_other_model_calls(transcribing: Bot, worker: object, model: ScriptedModel) -> None:
    model.script("transcription", text="A table for four, please.")
    send(transcribing, "voice", VOICE)
    message = until_read(transcribing.tenant)
    with transcribing.tenant.tx():
        call = ModelCall.objects.get(skill="transcription")
        used = ModelUsage.objects.get(skill="transcription")
    assert (call.model, call.output, call.messages) == ("whisper-1", "A table for four, please.", [])
    assert (call.turn_id, call.subject_id) == (message.turn_id, message.conversation_id)
    assert (used.calls, used.unpriced_tokens) == (1, call.input_tokens + call.output_tokens)
    assert call.input_tokens > 0


def test_an_organization_over_its_limit_transcribes_nothing(
    transcribing: Bot, worker: object, model: ScriptedModel
) -> None:
    tenant = transcribing.tenant
    with tenant.tx():
        set_organization_limit(tenant.project, Limit.MONTH_TOKENS, 0, by=tenant.owner)
    send(transcribing, "voice", VOICE)
    assert until_read(tenant).content == "[Voice message, 12 s]"
    assert model.requests("transcription") == []


@pytest.mark.parametrize("fault", ["404", "500", "429"])
def test_without_a_transcript_the_agent_answers_all_the_same(
    fault: str, transcribing: Bot, worker: object, model: ScriptedModel
) -> None:
    """Also a server that transcribes nothing."""
    model.script("transcription", fault=fault)
    send(transcribing, "voice", VOICE)
    transcribing.until_receipts("sent")
    assert (until_read(transcribing.tenant).content, len(attached(transcribing))) == ("[Voice message, 12 s]", 1)


def test_a_video_keeps_its_caption_and_is_not_transcribed(
    transcribing: Bot, worker: object, model: ScriptedModel
) -> None:
    send(transcribing, "video", VIDEO, caption="The leak", file_name="tour.mp4")
    message = until_read(transcribing.tenant)
    assert (message.content, attached(transcribing)) == ("The leak\n[Video, 1 min 5 s]", [("tour.mp4", "video/mp4")])
    assert model.requests("transcription") == []


@pytest.mark.parametrize(
    ("kind", "content", "reason"),
    [
        ("voice", VOICE + bytes(MAX_MEDIA_BYTES), "too large"),
        ("voice", b"<html><script>alert(1)</script></html>", "what it was sent as"),
        ("video", PNG, "what it was sent as"),
    ],
)
def test_a_dropped_media_file_says_why(
    kind: str, content: bytes, reason: str, bot: Bot, worker: object, model: ScriptedModel
) -> None:
    send(bot, kind, content, duration=7)
    bot.until_receipts("sent")
    said = until_read(bot.tenant).content
    assert (", 7 s, which can’t be read here: " in said, reason in said, attached(bot)) == (True, True, [])


def test_a_sticker_is_a_picture_for_the_model(bot: Bot, worker: object, model: ScriptedModel) -> None:
    send(bot, "sticker", WEBP, emoji="👍", is_animated=False, is_video=False)
    bot.until_receipts("sent")
    assert until_read(bot.tenant).content == "[Sticker 👍]\n[File: sticker.webp]"
    assert [one["pictures"] for one in model.requests("reply")] == [1]


def test_a_player_gets_the_part_that_it_asks_for(bot: Bot, worker: object, model: ScriptedModel) -> None:
    send(bot, "voice", VOICE)
    message = until_read(bot.tenant)
    [conversation] = bot.rows(Conversation)
    answer = bot.api.get(f"/api/v1/conversations/{conversation.pk}/messages").json()
    [file] = answer["results"][message.seq - 1]["attachments"]
    path = "/files/" + file["url"].rpartition("/")[2]
    whole, end = Client().get(path), Client(headers={"Range": "bytes=-4"}).get(path)
    assert (whole.content, whole["Content-Type"], whole["Content-Disposition"].partition(";")[0]) == (
        VOICE,
        "audio/ogg",
        "inline",
    )
    assert (end.status_code, end.content, end["Content-Range"]) == (
        206,
        VOICE[-4:],
        f"bytes {len(VOICE) - 4}-{len(VOICE) - 1}/{len(VOICE)}",
    )
    assert Client(headers={"Range": "bytes=9999-"}).get(path).status_code == 416


@pytest.mark.parametrize(("voice", "content"), [(True, "[Voice message, 12 s]"), (False, "[Audio, 12 s]")])
def test_whatsapp_tells_voice_messages_from_audio(
    voice: bool, content: str, line: Line, worker: object, model: ScriptedModel
) -> None:
    line.graph.media["900"] = VOICE
    audio = {"id": "900", "mime_type": "audio/ogg; codecs=opus", "voice": voice}
    line.write({"from": ANNA, "id": "wamid.a", "timestamp": "1", "type": "audio", "audio": audio})
    assert until_read(line.tenant).content == content


def test_a_sticker_of_whatsapp_is_a_picture(line: Line, worker: object, model: ScriptedModel) -> None:
    line.graph.media["901"] = WEBP
    sticker = {"id": "901", "mime_type": "image/webp", "animated": False}
    line.write({"from": ANNA, "id": "wamid.s", "timestamp": "1", "type": "sticker", "sticker": sticker})
    assert until_read(line.tenant).content == "[File: sticker.webp]"


def test_a_place_of_whatsapp_says_its_address(line: Line) -> None:
    place = {"latitude": 45.4642, "longitude": 9.19, "name": "Duomo", "address": "Piazza del Duomo, Milano"}
    line.write({"from": ANNA, "id": "wamid.l", "timestamp": "1", "type": "location", "location": place})
    with line.tenant.tx():
        [said] = Conversation.objects.get().messages.values_list("content", flat=True)
    assert said == "[Location: Duomo, Piazza del Duomo, Milano (45.46420, 9.19000)]"


def test_a_place_by_twilio_is_read(number: Number) -> None:
    place = {"Latitude": "45.4642", "Longitude": "9.19", "Address": "Piazza del Duomo"}
    assert number.post("/hooks/twilio/messages", number.text("", **place)).status_code == 200
    with number.tenant.tx():
        [said] = Conversation.objects.get().messages.values_list("content", flat=True)
    assert said == "[Location: Piazza del Duomo (45.46420, 9.19000)]"
