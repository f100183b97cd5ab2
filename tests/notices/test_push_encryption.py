"""Encryption of push messages and the server's identity, by the examples of RFC 8291 and RFC 8292."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.exceptions import InvalidTag

from notices.push.encryption import LONGEST_CONTENT, encrypt
from notices.push.vapid import authorization, public_key
from tests.conversations.effects.target import Heard
from tests.notices.push_service import PlayedBrowser, bytes_of, claims_of, key_of, text_of

ENDPOINT = "https://push.example.net/push/JzLQ3raZJfFBR0aqvOMsLrt54w4rJUsV"
# RFC 8291, section 5 and appendix A
BROWSER = PlayedBrowser(
    ENDPOINT, key_of("q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"), bytes_of("BTBZMqHH6r4Tts7J_aSIgg")
)
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
PUBLIC = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
CONTENT = b"When I grow up, I want to be a watermelon"
MESSAGE = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_"
    "yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"
)


def sealed(content: bytes, **options: Any) -> bytes:
    return encrypt(content, p256dh=BROWSER.public, auth=BROWSER.auth, **options)


def test_the_message_of_the_rfc_is_made_from_its_keys() -> None:
    assert text_of(BROWSER.public) == PUBLIC
    assert text_of(sealed(CONTENT, private_key=key_of(SENDER), salt=bytes_of(SALT))) == MESSAGE


def test_the_browser_of_the_rfc_reads_its_message() -> None:
    assert BROWSER.read(bytes_of(MESSAGE)) == CONTENT


def test_the_length_of_a_message_says_nothing() -> None:
    messages = [sealed(content, padded_to=2048) for content in (b"", b"x" * 2048)]
    assert ([BROWSER.read(one) for one in messages], len({len(one) for one in messages})) == ([b"", b"x" * 2048], 1)


def test_a_message_fits_into_one_record() -> None:
    assert len(sealed(b"x" * LONGEST_CONTENT)) == 4096
    with pytest.raises(ValueError, match="3993"):
        sealed(b"x" * (LONGEST_CONTENT + 1))


def test_another_browser_reads_nothing() -> None:
    with pytest.raises(InvalidTag):
        PlayedBrowser(ENDPOINT).read(sealed(CONTENT))


def test_the_token_names_the_push_service_and_is_signed_with_our_key(settings: Any) -> None:
    settings.BASE_URL, settings.IS_HTTPS = "https://desk.example", True
    heard = Heard("POST", "/", {"authorization": authorization(ENDPOINT)}, b"")
    claims = claims_of(heard, audience="https://push.example.net")
    assert (claims["sub"], claims["k"]) == ("https://desk.example", public_key())


def test_the_key_is_that_of_the_installation(settings: Any) -> None:
    settings.SECRET_KEY = "one" * 20
    first = public_key()
    settings.SECRET_KEY = "two" * 20
    assert (len(bytes_of(first)), public_key() == first) == (65, False)
    settings.SECRET_KEY = "one" * 20
    assert public_key() == first
