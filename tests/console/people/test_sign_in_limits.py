"""Wrong passwords delay an account and limit an address range, but never lock the owner out."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from django.test import Client, RequestFactory
from django.urls import reverse
from pytest_django import Settings

from projects.accounts import sign_in_limits
from projects.accounts.known_browsers import COOKIE
from projects.accounts.sign_in_limits import DELAYED_PER_RANGE, FREE, Delays
from projects.common.addresses import client_address, client_range
from projects.models import User
from tests.conftest import PASSWORD
from tests.console.people.conftest import NEW_PASSWORD, is_signed_in

EMAIL = "ada@new.example"
LOGIN = "account_login"
AT_ONCE = "Too many attempts at once."


@pytest.fixture
def ada(database: None) -> User:
    return User.objects.create_user(EMAIL, PASSWORD)


@pytest.fixture(autouse=True)
def delays(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The delays that attempts had."""
    waited: list[float] = []
    monkeypatch.setattr("projects.accounts.sign_in_limits.sleep", waited.append)
    return waited


def attempt(password: str, *, client: Client | None = None, address: str = "203.0.113.9", email: str = EMAIL) -> Client:
    client = client or Client()
    client.post(reverse(LOGIN), {"login": email, "password": password}, REMOTE_ADDR=address)
    return client


def guess(times: int, *, address: str = "203.0.113.9", email: str = EMAIL, client: Client | None = None) -> None:
    for number in range(times):
        assert not is_signed_in(attempt(f"wrong password {number}", address=address, email=email, client=client))


def test_five_wrong_passwords_do_not_lock_the_owner_out(ada: User, delays: list[float]) -> None:
    guess(FREE)
    assert is_signed_in(attempt(PASSWORD))
    assert delays == [1.0]


def test_the_delay_doubles_up_to_eight_seconds(ada: User, delays: list[float]) -> None:
    guess(FREE + 6)
    assert delays == [1.0, 2.0, 4.0, 8.0, 8.0, 8.0]


def test_wrong_passwords_from_many_ranges_delay_the_account(ada: User, delays: list[float]) -> None:
    for number in range(FREE + 1):
        guess(1, address=f"198.51.{number}.7")
    assert delays == [1.0]


def test_another_account_is_not_delayed(ada: User, delays: list[float]) -> None:
    guess(FREE, email="other@new.example")
    assert is_signed_in(attempt(PASSWORD))
    assert delays == []


def test_an_unknown_address_is_delayed_like_an_account(database: None, delays: list[float]) -> None:
    """The delay reveals no account."""
    guess(FREE + 1, email="nobody@new.example")
    assert delays == [1.0]


def test_a_known_browser_is_not_delayed_by_strangers(ada: User, delays: list[float]) -> None:
    client = attempt(PASSWORD)
    client.post(reverse("account_logout"))
    guess(FREE)
    assert is_signed_in(attempt(PASSWORD, client=client))
    assert delays == []


def test_a_known_browser_is_delayed_by_its_own_wrong_passwords(ada: User, delays: list[float]) -> None:
    client = attempt(PASSWORD)
    client.post(reverse("account_logout"))
    guess(FREE + 1, client=client)
    assert delays == [1.0]


def test_a_browser_is_known_to_its_own_account_only(ada: User, delays: list[float]) -> None:
    User.objects.create_user("bea@new.example", PASSWORD)
    client = attempt(PASSWORD, email="bea@new.example")
    client.post(reverse("account_logout"))
    guess(FREE + 1, client=client)
    guess(1)
    assert delays == [1.0, 2.0]


def test_a_forged_cookie_makes_no_browser_known(ada: User, delays: list[float]) -> None:
    client = Client()
    client.cookies[COOKIE] = f'["browser",[{ada.pk}]]:1w:forged'
    guess(FREE + 1, client=client)
    guess(1)
    assert delays == [1.0, 2.0]


def test_a_range_that_guesses_too_often_is_refused(ada: User, settings: Settings, delays: list[float]) -> None:
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"wrong_password": "3/m/ip"}
    for number in range(3):
        guess(1, address=f"203.0.113.{number}", email=f"n{number}@new.example")
    assert not is_signed_in(attempt(PASSWORD, address="203.0.113.77"))
    assert is_signed_in(attempt(PASSWORD, address="203.0.114.77"))


def test_a_known_browser_is_not_refused_with_its_range(ada: User, settings: Settings) -> None:
    settings.ACCOUNT_RATE_LIMITS = settings.ACCOUNT_RATE_LIMITS | {"wrong_password": "1/m/ip"}
    client = attempt(PASSWORD)
    client.post(reverse("account_logout"))
    guess(2, email="nobody@new.example")
    assert is_signed_in(attempt(PASSWORD, client=client))


def test_a_delayed_attempt_holds_no_connection(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[bool] = []
    connection = connections["default"]
    monkeypatch.setattr(
        "projects.accounts.sign_in_limits.sleep", lambda _: held.append(connection.connection is not None)
    )
    guess(FREE)
    assert is_signed_in(attempt(PASSWORD))
    assert held == [False]


def test_too_many_delayed_attempts_at_once_are_refused(ada: User, monkeypatch: pytest.MonkeyPatch) -> None:
    guess(FREE)
    everyone, end = threading.Barrier(DELAYED_PER_RANGE + 1), threading.Event()

    def sleep(seconds: float) -> None:
        everyone.wait(timeout=60)
        end.wait(timeout=60)

    def wait_and_guess(_: int) -> None:
        try:
            attempt("wrong password")
        finally:
            connections.close_all()

    monkeypatch.setattr("projects.accounts.sign_in_limits.sleep", sleep)
    with ThreadPoolExecutor(DELAYED_PER_RANGE) as executor:
        waiting = executor.map(wait_and_guess, range(DELAYED_PER_RANGE))
        everyone.wait(timeout=60)
        form = {"login": EMAIL, "password": PASSWORD}
        answer = Client().post(reverse(LOGIN), form, REMOTE_ADDR="203.0.113.9")
        end.set()
        list(waiting)
    assert AT_ONCE in answer.content.decode()


def test_a_place_is_free_again_after_the_delay() -> None:
    places = Delays()
    for _ in range(DELAYED_PER_RANGE + 1):
        with places.enter("account") as has_place:
            assert has_place


def test_all_accounts_share_the_places_of_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sign_in_limits, "DELAYED", 1)
    places = Delays()
    with places.enter("one") as first, places.enter("another") as second:
        assert (first, second) == (True, False)


def test_sign_ups_are_limited_per_range(database: None) -> None:
    statuses = [
        Client()
        .post(
            reverse("account_signup"),
            {"email": f"n{number}@new.example", "password1": NEW_PASSWORD},
            REMOTE_ADDR=f"203.0.113.{number}",
        )
        .status_code
        for number in range(21)
    ]
    assert statuses == [302] * 20 + [429]


@pytest.mark.parametrize(
    ("address", "customer", "range_"),
    [
        ("203.0.113.9", "203.0.113.9", "203.0.113.0"),
        ("::ffff:203.0.113.9", "203.0.113.9", "203.0.113.0"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::", "2001:db8:1:2::"),
        ("", "", ""),
    ],
)
def test_addresses_are_counted_by_network(address: str, customer: str, range_: str) -> None:
    request = RequestFactory().get("/", REMOTE_ADDR=address)
    assert (client_address(request), client_range(request)) == (customer, range_)
