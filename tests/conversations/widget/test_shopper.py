"""Shopper sign-in: the shop's token is accepted only if it is signed as agreed."""

from __future__ import annotations

import base64
import hmac
import json
import time
from typing import Any

import jwt
import pytest
from cryptography.fernet import Fernet

from conversations.models import Conversation, PersonaField
from projects.widget.widgets import renew_shopper_secret
from tests.conftest import Tenant
from tests.conversations.widget.conftest import Placed, Visitor, place_widget


def unsigned(claims: dict[str, Any]) -> str:
    """A token that declares it needs no signature."""
    return jwt.encode(claims, "", algorithm="none")


def half(part: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


@pytest.mark.requirement("W05")
def test_a_signed_in_shopper_is_the_customer_and_the_conversation_keeps_the_claims(placed: Placed) -> None:
    """`shopper.wp_user_id`, name and e-mail; they identify the customer."""
    visitor = Visitor(placed)
    shopper = {"wp_user_id": "17", "name": "Clara", "email": "clara@example.com", "role": "admin"}
    assert visitor.open(shopper=placed.signed(shopper=shopper)).json()["shopper"] == {
        "signed_in": True,
        "refused": None,
        "name": "Clara",
        "email": "clara@example.com",
    }
    visitor.say("Where is my order?")
    with placed.tenant.tx():
        conversation = Conversation.objects.select_related("persona").get()
        assert conversation.shopper == {"wp_user_id": 17, "name": "Clara", "email": "clara@example.com"}
        assert conversation.persona.external_id == "shopper:17"
        known = dict(PersonaField.objects.values_list("key", "value"))
    assert known == {"name": "Clara", "email": "clara@example.com"}


def test_an_undecryptable_secret_signs_nobody_in(placed: Placed, settings: Any) -> None:
    """After the encryption key was lost; the shop is told what to do."""
    token = placed.signed()
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    answer = Visitor(placed).open(shopper=token)
    assert (answer.status_code, answer.json()["shopper"]["refused"]["code"]) == (200, "shopper_not_set_up")


def forged(placed: Placed) -> dict[str, str]:
    claims = {"exp": int(time.time()) + 3600, "shopper": {"wp_user_id": 1}}
    good = placed.signed()
    head, body, signature = good.split(".")
    return {
        "expired": placed.signed(exp=int(time.time()) - 60),
        "without an end": placed.signed(exp=None),
        "other secret": placed.signed(secret="a secret of somebody else's, long enough"),
        "other algorithm": placed.signed(algorithm="HS512", secret=placed.secret * 2),
        "no algorithm": unsigned(claims),
        "no algorithm, old signature": f"{half({'alg': 'none', 'typ': 'JWT'})}.{body}.{signature}",
        "other claims": f"{head}.{half(claims)}.{signature}",
        "not yet": placed.signed(nbf=int(time.time()) + 600),
        "no shopper": placed.signed(shopper=None),
        "no id": placed.signed(shopper={"name": "Clara"}),
        "id 0": placed.signed(shopper={"wp_user_id": 0}),
        "id true": placed.signed(shopper={"wp_user_id": True}),
        "id of words": placed.signed(shopper={"wp_user_id": "1 or 1=1"}),
        "no token": "x.y.z",
        "long": "x" * 9_000,
    }


def test_an_invalid_token_is_refused_and_the_visitor_continues(placed: Placed) -> None:
    """Forged, expired or of alg none: each has an error, and the visitor stays signed out."""
    codes: dict[str, str] = {}
    for name, token in forged(placed).items():
        answer = Visitor(placed).open(shopper=token).json()
        assert answer["token"], name
        assert answer["shopper"]["signed_in"] is False, name
        assert answer["shopper"]["refused"]["message"].endswith("."), name
        codes[name] = answer["shopper"]["refused"]["code"]
    assert codes.pop("expired") == "shopper_expired"
    assert {
        codes.pop(name) for name in ("without an end", "no shopper", "no id", "id 0", "id true", "id of words")
    } == {"shopper_claims"}
    assert codes.pop("long") == "shopper_invalid"
    assert set(codes.values()) == {"shopper_forged"}


@pytest.mark.parametrize(
    "claims",
    [
        {"name": "Cla\x00ra"},
        {"name": "Clara\r\nAdmin: true"},
        {"name": "Clara\u202eadmin"},
        {"name": "Clara\ud800"},
        {"email": "clara@example.com\r\nBcc: all@example.com"},
        {"email": "clara@example.com,all@example.com"},
        {"email": "clara@example.com\x00"},
        {"email": "clara"},
        {"wp_user_id": "17\n18"},
    ],
)
def test_a_signed_claim_is_still_input(placed: Placed, claims: dict[str, Any]) -> None:
    """A signature says who wrote it. The claim is named, and nothing of it becomes the customer's."""
    visitor = Visitor(placed)
    answer = visitor.open(shopper=placed.signed(shopper={"wp_user_id": 17, **claims}))
    assert answer.status_code == 200
    assert (answer.json()["shopper"]["signed_in"], answer.json()["shopper"]["refused"]["code"]) == (
        False,
        "shopper_claims",
    )
    assert visitor.say("Hello").status_code == 202
    with placed.tenant.tx():
        assert not PersonaField.objects.exists()


@pytest.mark.parametrize("exp", [10**30, 2**53, True, "soon", "4000000000", 4000000000.0, [1], {"a": 1}])
def test_an_expiry_that_is_no_time_signs_nobody_in(placed: Placed, exp: Any) -> None:
    answer = Visitor(placed).open(shopper=placed.signed(exp=exp))
    assert (answer.status_code, answer.json()["shopper"]["signed_in"]) == (200, False)


def test_a_token_nested_too_deeply_signs_nobody_in(placed: Placed) -> None:
    body = base64.urlsafe_b64encode(b"[" * 2_900).rstrip(b"=").decode()
    signed = f"{half({'alg': 'HS256', 'typ': 'JWT'})}.{body}"
    digest = hmac.digest(placed.secret.encode(), signed.encode(), "sha256")
    token = f"{signed}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"
    answer = Visitor(placed).open(shopper=token)
    assert (answer.status_code, answer.json()["shopper"]["signed_in"]) == (200, False)


def test_a_token_signed_by_another_shop_is_refused(placed: Placed, stranger: Tenant) -> None:
    answer = Visitor(placed).open(shopper=place_widget(stranger).signed()).json()
    assert answer["shopper"]["refused"]["code"] == "shopper_forged"


def test_a_new_secret_invalidates_the_old_one(placed: Placed) -> None:
    old = placed.signed()
    with placed.tenant.tx():
        renew_shopper_secret(placed.tenant.project, by=None)
    assert Visitor(placed).open(shopper=old).json()["shopper"]["refused"]["code"] == "shopper_forged"


@pytest.mark.requirement("W05")
def test_a_visitor_who_signs_in_continues_the_conversation(placed: Placed, visitor: Visitor) -> None:
    """A visitor asked to sign in for their orders does so, and finds their question answered."""
    begun = visitor.say("Where is my order?").json()["conversation"]
    assert visitor.open(shopper=placed.signed()).json()["conversation"] == begun
    with placed.tenant.tx():
        assert Conversation.objects.get().shopper["wp_user_id"] == 17


def test_a_shopper_who_signs_out_leaves_nothing_in_the_browser(placed: Placed) -> None:
    """Neither as a visitor nor as another shopper; the same shopper finds it again."""
    browser = Visitor(placed)
    browser.open(shopper=placed.signed())
    begun = browser.say("Where is my order?").json()["conversation"]
    assert browser.open().json()["conversation"] is None
    assert browser.open(shopper=placed.signed(shopper={"wp_user_id": 18})).json()["conversation"] is None
    assert browser.open(shopper=placed.signed()).json()["conversation"] == begun


def test_a_sign_in_lasts_no_longer_than_the_shops_token(placed: Placed, monkeypatch: pytest.MonkeyPatch) -> None:
    browser = Visitor(placed)
    now = time.time()
    browser.open(shopper=placed.signed(exp=int(now) + 60))
    monkeypatch.setattr("conversations.widget.visitors.time.time", lambda: now + 61)
    assert browser.say("Hello").status_code == 401


@pytest.mark.requirement("W05")
def test_the_same_user_id_in_another_shop_is_another_shopper(
    placed: Placed, stranger: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each one's rate limit is separate."""
    counted: set[str] = set()

    def wait(bucket: str, *, per_minute: int) -> float:
        is_known = bucket in counted
        counted.add(bucket)
        return 1.0 if is_known and "address" not in bucket else 0.0

    monkeypatch.setattr("conversations.widget.limits.seconds_to_wait", wait)
    codes = []
    for widget in (placed, place_widget(stranger), placed):
        browser = Visitor(widget)
        browser.open(shopper=widget.signed())
        codes.append(browser.say("Hello").status_code)
    assert codes == [202, 202, 429]
