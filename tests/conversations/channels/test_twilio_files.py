"""Files by Twilio: media that a redirect leads to, and pictures that are fetched from our signed address."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.conf import settings as django_settings
from django.test import Client

from conversations.channels.twilio import MESSAGES
from tests.conversations.channels.files import PDF, PNG, answer_with, until_read
from tests.conversations.channels.twilio_number import ANNA, Number
from tests.processes import ScriptedModel, until
from tests.tools.messaging.twilio_server import SID, TwilioServer

pytestmark = pytest.mark.standing_worker


MEDIA = f"/2010-04-01/Accounts/{SID}/Messages/SM1/Media/ME1"


@pytest.fixture
def store(number: Number) -> Iterator[TwilioServer]:
    """The server that Twilio's media are given out by."""
    with TwilioServer() as store:
        store.script.media = number.server.script.media = {MEDIA: PNG}
        number.server.script.store = store.url
        yield store


def test_a_contact_is_read_by_name_and_number(number: Number, worker: object, model: ScriptedModel) -> None:
    card = b"BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Carla Rossi\r\nitem1.TEL;type=CELL:+39 333 1234567\r\nEND:VCARD\r\n"
    number.server.script.media = {MEDIA: card}
    url = f"{number.server.url}{MEDIA}"
    number.post(MESSAGES, number.text("", NumMedia="1", MediaUrl0=url, MediaContentType0="text/vcard"))
    assert until_read(number.tenant).content == "[Contact: Carla Rossi, +39 333 1234567]"


def test_media_are_fetched_with_credentials_that_a_redirect_does_not_get(
    number: Number, store: TwilioServer, worker: object, model: ScriptedModel
) -> None:
    url = f"{number.server.url}{MEDIA}"
    number.post(MESSAGES, number.text("", NumMedia="1", MediaUrl0=url, MediaContentType0="image/png"))
    message = until_read(number.tenant)
    assert (message.content, len(message.attachments)) == ("[File: file 1.png]", 1)
    asked = [[call for call in one.script.calls if call.method == "GET"] for one in (number.server, store)]
    assert [["authorization" in call.headers for call in calls] for calls in asked] == [[True], [False]]


def test_media_of_another_server_get_no_credentials(
    number: Number, store: TwilioServer, worker: object, model: ScriptedModel
) -> None:
    url = f"{store.url}{MEDIA}"
    number.post(MESSAGES, number.text("Look", NumMedia="1", MediaUrl0=url, MediaContentType0="image/svg+xml"))
    assert until_read(number.tenant).content.startswith("Look")
    [visit] = store.script.calls
    assert "authorization" not in visit.headers


@pytest.mark.parametrize(
    ("sender", "content", "is_media"),
    [("+14155550177", PNG, True), ("+14155550177", PDF, False), (ANNA, PNG, False)],
    ids=["picture", "PDF", "picture abroad"],
)
def test_a_file_of_an_answer_is_media_or_a_link(
    sender: str, content: bytes, is_media: bool, number: Number, worker: object, model: ScriptedModel
) -> None:
    """Pictures can be texted within the United States and Canada."""
    number.post(MESSAGES, number.text(From=sender))
    number.until_state("sent")
    number.server.script.calls.clear()
    answer_with(number.tenant, content)
    until(lambda: len(number.server.script.calls) == 2 + is_media, what="the answer")
    _, *forms = [call.form for call in number.server.script.calls]
    assert forms[0]["Body"].startswith("Here it is.")
    assert ("/files/" in forms[0]["Body"]) is not is_media
    if is_media:
        path = forms[1]["MediaUrl"].removeprefix(django_settings.BASE_URL)
        assert ("Body" in forms[1], Client().get(path).content) == (False, PNG)
