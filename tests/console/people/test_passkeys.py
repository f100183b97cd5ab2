"""Passkeys on the server. tests/browser covers them in a browser."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.sessions.models import Session
from django.core import signing
from django.test import Client
from django.urls import reverse
from fido2.cose import UnsupportedKey
from fido2.utils import websafe_encode

from projects.models import AuditAction, AuditEntry, User
from tests.conftest import PASSWORD, Tenant
from tests.console.people.conftest import Mailbox, is_signed_in
from tests.console.people.soft_key import SoftKey, sent

ADD, ALONE, BESIDES = reverse("mfa_add_webauthn"), reverse("mfa_login_webauthn"), reverse("mfa_authenticate")
QUESTION = {"Accept": "application/json"}
HERE = "localhost:8000"


def visitor(host: str = HERE) -> Client:
    return Client(headers={"host": host})


def after_password(user: User) -> Client:
    client = visitor()
    client.post(reverse("account_login"), {"login": user.email, "password": PASSWORD})
    return client


def sure(user: User, host: str = HERE) -> Client:
    """A recently reauthenticated client."""
    client = visitor(host)
    client.force_login(user)
    client.post(reverse("account_reauthenticate"), {"password": PASSWORD})
    return client


def question(client: Client, url: str) -> dict[str, Any]:
    """The page's challenge; on the sign-in page with the signed state to post back."""
    if url == ALONE:
        asked = client.get(url, headers=QUESTION).json()
        return {**asked["request_options"], "question": asked["question"]}
    found = re.search(r'<script id="(?:making|asking)" type="application/json">(.*?)</script>', page(client, url))
    assert found
    return dict(json.loads(found[1]))


def page(client: Client, url: str) -> str:
    return client.get(url).content.decode()


def add(client: Client, key: SoftKey, **fields: str) -> str:
    """Add a key, and return the resulting page."""
    answer = key.make(question(client, ADD))
    return client.post(ADD, sent(answer, **fields), follow=True).content.decode()


def use(client: Client, url: str, key: SoftKey) -> str:
    return client.post(url, answered(key, question(client, url)), follow=True).content.decode()


def answered(key: SoftKey, asked: dict[str, Any]) -> dict[str, str]:
    return sent(key.use(asked), question=asked.get("question", ""))


def passkeys(user: User) -> list[Authenticator]:
    return list(Authenticator.objects.filter(user=user, type=Authenticator.Type.WEBAUTHN).order_by("pk"))


@pytest.fixture
def key(tenant: Tenant) -> SoftKey:
    """The owner's passwordless passkey."""
    key = SoftKey()
    add(sure(tenant.owner), key, passwordless="on", name="Blue key")
    return key


def test_a_passkey_works_after_the_password_and_without_it(tenant: Tenant, key: SoftKey) -> None:
    besides, alone = after_password(tenant.owner), visitor()
    assert not is_signed_in(besides)
    use(besides, BESIDES, key)
    use(alone, ALONE, key)
    assert is_signed_in(besides)
    assert is_signed_in(alone)


def test_an_unverified_passkey_only_works_after_the_password(tenant: Tenant, key: SoftKey) -> None:
    key.is_sure = False
    besides, alone = after_password(tenant.owner), visitor()
    use(besides, BESIDES, key)
    assert "has no PIN or fingerprint" in use(alone, ALONE, key)
    assert is_signed_in(besides)
    assert not is_signed_in(alone)


def test_a_second_factor_challenge_cannot_be_used_for_passwordless_sign_in(
    tenant: Tenant, stranger: Tenant, key: SoftKey
) -> None:
    """A stolen key answers the second-factor challenge of the thief's own account."""
    thief = visitor()
    add(sure(stranger.owner), SoftKey(id=b"the-thief's"), name="Mine")
    thief.post(reverse("account_login"), {"login": stranger.owner.email, "password": PASSWORD})
    key.is_sure = False
    answer = key.use(question(thief, BESIDES))
    thief.post(reverse("account_logout"))
    thief.post(ALONE, sent(answer))
    assert not is_signed_in(thief)


@pytest.mark.parametrize(
    ("known", "said", "opens"), [(0, 0, True), (0, 1, True), (7, 8, True), (7, 7, False), (7, 3, False), (7, 0, False)]
)
def test_a_non_increasing_sign_count_is_refused_as_a_copy(tenant: Tenant, known: int, said: int, opens: bool) -> None:
    """WebAuthn, section 6.1.1. Keys that never count are trusted. Refused counts aren't stored."""
    key = SoftKey(count=known)
    add(sure(tenant.owner), key, passwordless="on")
    key.count = said - 1
    client = visitor()
    assert ("may have been copied" in use(client, ALONE, key)) is not opens
    assert is_signed_in(client) is opens
    key.count = max(known, said)
    assert "may have been copied" not in use(visitor(), ALONE, key)


def test_a_copied_passkey_is_refused_at_every_endpoint(tenant: Tenant, key: SoftKey) -> None:
    copy, again = replace(key), reverse("mfa_reauthenticate_webauthn")
    use(visitor(), ALONE, key)
    for client, url in ((visitor(), ALONE), (after_password(tenant.owner), BESIDES), (sure(tenant.owner), again)):
        copy.count = 0
        assert "may have been copied" in use(client, url, copy)


def test_renaming_a_passkey_keeps_its_sign_count(tenant: Tenant, key: SoftKey) -> None:
    copy = replace(key)
    use(visitor(), ALONE, key)
    sure(tenant.owner).post(reverse("mfa_edit_webauthn", args=[passkeys(tenant.owner)[0].pk]), {"name": "Red key"})
    assert "may have been copied" in use(visitor(), ALONE, copy)


def test_a_copied_passkey_is_reported_once_an_hour(tenant: Tenant, key: SoftKey, mailbox: Mailbox, settings) -> None:
    settings.ACCOUNT_EMAIL_NOTIFICATIONS = True
    copy = replace(key)
    use(visitor(), ALONE, key)
    for _ in range(2):
        copy.count = 0
        use(visitor(), ALONE, copy)
    assert "one of your passkeys may have been copied" in " ".join(mailbox.last_text().split())
    assert len(mailbox.messages) == 1
    with tenant.tx():
        assert AuditEntry.objects.get(action=AuditAction.PASSKEY_COPIED).subject == "Blue key"


def test_an_answer_works_once(key: SoftKey) -> None:
    client = visitor()
    answer = answered(key, question(client, ALONE))
    client.post(ALONE, answer)
    assert is_signed_in(client)
    client.post(reverse("account_logout"))
    assert "This request has expired." in client.post(ALONE, answer, follow=True).content.decode()
    assert not is_signed_in(client)


def test_unknown_and_foreign_passkeys_are_refused_alike(tenant: Tenant, stranger: Tenant, key: SoftKey) -> None:
    unknown = SoftKey(id=b"nobody's", owner=key.owner)
    foreign = SoftKey(id=key.id, owner=key.owner)
    nobody = SoftKey(id=key.id, owner=websafe_encode(b"zzzz"), secret=key.secret)
    texts = [use(visitor(), ALONE, one) for one in (unknown, foreign, nobody)]
    assert all("This passkey isn’t registered here" in text for text in texts)


@pytest.mark.parametrize(
    ("host", "origin", "opens"),
    [
        ("chat.example", "https://chat.example", True),
        ("chat.example:8443", "https://chat.example:8443", True),
        ("localhost:8000", "http://localhost:8000", True),
        ("chat.example", "http://chat.example", False),
        ("chat.example", "https://evil.chat.example", False),
        ("chat.example", "https://other.example", False),
    ],
)
def test_a_passkey_belongs_to_the_requested_host(tenant: Tenant, settings, host: str, origin: str, opens: bool) -> None:
    """Any host in ALLOWED_HOSTS; without TLS only localhost."""
    settings.ALLOWED_HOSTS = ["chat.example", "localhost"]
    add(sure(tenant.owner, host), SoftKey(origin=origin))
    assert len(passkeys(tenant.owner)) == opens


def test_a_passkey_of_another_host_shows_its_host(tenant: Tenant, key: SoftKey) -> None:
    client = visitor("testserver")
    client.force_login(tenant.owner)
    assert "Only on localhost" in page(client, reverse("mfa_index"))


NESTED = "[" * 19_000
BYTES = {"clientDataJSON": "e30", "attestationObject": "gA", "authenticatorData": "AA", "signature": "AA"}
ANSWERS = [
    "",
    "{",
    "[]",
    "7",
    '"x"',
    "9" * 5_000,
    NESTED,
    "{}",
    '{"id": "AA", "rawId": "AA", "type": "public-key", "response": {}, "clientExtensionResults": []}',
    json.dumps({"id": "AA", "rawId": "AA", "response": BYTES}),
    '{"id": "\\u0000", "rawId": "\\ud800", "response": null}',
    json.dumps({"id": "x" * 30_000}),
]


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
def test_a_malformed_answer_is_refused_with_a_message(tenant: Tenant, key: SoftKey, answer: str) -> None:
    """At every endpoint that takes an answer."""
    again = reverse("mfa_reauthenticate_webauthn")
    for client, url in (
        (visitor(), ALONE),
        (after_password(tenant.owner), BESIDES),
        (sure(tenant.owner), again),
        (sure(tenant.owner), ADD),
    ):
        question(client, url)
        text = client.post(url, sent(answer), follow=True).content.decode()
        assert ("sent no passkey" in text) or ("couldn’t be read" in text), url
    assert len(passkeys(tenant.owner)) == 1


def test_a_passkey_with_an_unusable_public_key_is_not_added(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tests.console.people.soft_key.ES256.from_cryptography_key", lambda key: UnsupportedKey({1: 9, 3: -999})
    )
    assert "can’t be used here" in add(sure(tenant.owner), SoftKey())
    assert passkeys(tenant.owner) == []


def test_a_passkey_is_not_added_twice(tenant: Tenant, key: SoftKey) -> None:
    assert "already added this passkey" in add(sure(tenant.owner), key)
    assert len(passkeys(tenant.owner)) == 1


def test_an_unverified_passkey_is_not_added_as_passwordless(tenant: Tenant) -> None:
    client, weak = sure(tenant.owner), SoftKey(is_sure=False)
    assert "clear the checkbox" in add(client, weak, passwordless="on")
    add(client, weak)
    assert [one.wrap().is_passwordless for one in passkeys(tenant.owner)] == [None]


def test_only_the_needed_parts_of_an_answer_are_stored(tenant: Tenant) -> None:
    client = sure(tenant.owner)
    answer = SoftKey().make(question(client, ADD)) | {"note": "\u0000", "more": ["x"] * 100}
    client.post(ADD, sent(answer))
    [kept] = passkeys(tenant.owner)
    assert sorted(kept.data["credential"]) == ["clientExtensionResults", "id", "rawId", "response", "type"]


def test_passkeys_can_be_named_and_renamed(tenant: Tenant, key: SoftKey) -> None:
    client = sure(tenant.owner)
    add(client, SoftKey(id=b"second"))
    add(client, SoftKey(id=b"third"))
    url = reverse("mfa_edit_webauthn", args=[passkeys(tenant.owner)[0].pk])
    client.post(url, {"name": "Red key"})
    assert [str(one) for one in passkeys(tenant.owner)] == ["Red key", "Passkey", "Passkey 2"]
    assert "Enter a name" in client.post(url, {"name": " "}).content.decode()


@pytest.mark.parametrize("page_name", ["mfa_edit_webauthn", "mfa_remove_webauthn"])
def test_another_users_passkey_is_not_found(tenant: Tenant, stranger: Tenant, key: SoftKey, page_name: str) -> None:
    url = reverse(page_name, args=[passkeys(tenant.owner)[0].pk])
    assert sure(stranger.owner).post(url, {"name": "x"}).status_code == 404
    assert str(passkeys(tenant.owner)[0]) == "Blue key"


@pytest.mark.parametrize("page_name", ["mfa_add_webauthn", "mfa_edit_webauthn", "mfa_remove_webauthn"])
def test_changing_passkeys_requires_reauthentication(tenant: Tenant, key: SoftKey, page_name: str) -> None:
    """Even after a passwordless sign-in."""
    client = visitor()
    use(client, ALONE, key)
    url = reverse(page_name, args=[passkeys(tenant.owner)[0].pk] if page_name != "mfa_add_webauthn" else [])
    assert client.get(url).headers["Location"].startswith(reverse("account_reauthenticate"))


def test_reauthentication_keeps_the_destination_after_a_refusal(tenant: Tenant, key: SoftKey) -> None:
    """A later valid answer continues to the original destination."""
    client = visitor()
    use(client, ALONE, key)
    again = f"{reverse('mfa_reauthenticate_webauthn')}?next={ADD}"
    assert ADD in client.post(again, sent("x") | {"next": ADD}).content.decode()
    answer = client.post(again, sent(key.use(question(client, again))) | {"next": ADD})
    assert answer.headers["Location"] == ADD


@pytest.mark.parametrize(
    ("wanted", "kept"), [("/inbox/", "?next=%2Finbox%2F"), ("https://evil.example/", ""), ("", "")]
)
def test_sign_in_keeps_the_destination_after_a_refusal(key: SoftKey, wanted: str, kept: str) -> None:
    answer = visitor().post(ALONE, sent("x", next=wanted))
    assert answer.headers["Location"] == reverse("account_login") + kept


def test_removing_the_last_factor_removes_the_recovery_codes(tenant: Tenant, key: SoftKey) -> None:
    """The warning appears for the last factor only."""
    client = sure(tenant.owner)
    first = reverse("mfa_remove_webauthn", args=[passkeys(tenant.owner)[0].pk])
    assert "recovery codes stop working" in page(client, first)
    add(client, SoftKey(id=b"second"))
    assert "recovery codes stop working" not in page(client, first)


def test_passkey_and_code_attempts_share_a_rate_limit(tenant: Tenant, key: SoftKey) -> None:
    client, wrong = after_password(tenant.owner), SoftKey(id=key.id, owner=key.owner)
    texts = [use(client, BESIDES, wrong) for _ in range(6)]
    assert "isn’t registered here" in texts[0]
    assert "Too many attempts." in texts[-1]


def test_challenges_are_rate_limited(tenant: Tenant, settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"passkey_question": "2/m/ip"}
    answers = [visitor().get(ALONE, headers=QUESTION) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert "Wait a minute" in answers[2].content.decode()


def test_neither_a_challenge_nor_a_refused_answer_creates_a_session(tenant: Tenant, key: SoftKey) -> None:
    """Every sign-in page requests a challenge automatically."""
    sessions = Session.objects.count()
    use(visitor(), ALONE, SoftKey(id=b"nobody's", owner=key.owner))
    assert Session.objects.count() == sessions


def test_concurrent_sign_in_pages_have_separate_challenges(tenant: Tenant, key: SoftKey) -> None:
    client = visitor()
    first, _ = question(client, ALONE), question(client, ALONE)
    client.post(ALONE, answered(key, first))
    assert is_signed_in(client)


@pytest.mark.parametrize("case", ["of another", "late", "made up", "none"])
def test_an_answer_requires_its_challenge(
    tenant: Tenant, key: SoftKey, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    client = visitor()
    answer = answered(key, question(client, ALONE))
    if case == "late":
        monkeypatch.setattr("console.people.passkey_challenges.SECONDS", -1)
    else:
        made_up = signing.dumps({"challenge": "AA", "user_verification": "required"})
        others = {"of another": question(client, ALONE)["question"], "made up": made_up, "none": ""}
        answer["question"] = others[case]
    assert "This request has expired." in client.post(ALONE, answer, follow=True).content.decode()
    assert not is_signed_in(client)


def test_an_inactive_users_passkey_is_refused(tenant: Tenant, key: SoftKey) -> None:
    User.objects.filter(pk=tenant.owner.pk).update(is_active=False)
    client = visitor()
    use(client, ALONE, key)
    assert not is_signed_in(client)


def test_adding_and_removing_passkeys_sends_e_mails(tenant: Tenant, mailbox: Mailbox, settings) -> None:
    settings.ACCOUNT_EMAIL_NOTIFICATIONS = True
    client = sure(tenant.owner)
    add(client, SoftKey())
    assert "A passkey was added to your account." in mailbox.last_text()
    client.post(reverse("mfa_remove_webauthn", args=[passkeys(tenant.owner)[0].pk]))
    assert "A passkey was removed from your account." in mailbox.last_text()
    assert not Authenticator.objects.filter(user=tenant.owner).exists()


def test_the_admin_shows_no_passkey_data(tenant: Tenant, key: SoftKey) -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("platform@makegood.example", PASSWORD))
    text = page(client, reverse("admin:mfa_authenticator_change", args=[passkeys(tenant.owner)[0].pk]))
    assert tenant.owner.email in text
    assert websafe_encode(key.id) not in text
