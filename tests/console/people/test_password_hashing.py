"""Passwords are hashed a few at once, while their request holds no database connection."""

from __future__ import annotations

import http.client
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from urllib.parse import urlencode

import pytest
from django.contrib.auth.hashers import make_password
from django.db import connections
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

from config.asgi import application
from projects.accounts import password_hashing
from projects.accounts.password_hashing import HashThreads, TooManyHashes
from projects.models import User
from tests.api.live import Address, serve
from tests.conftest import PASSWORD, Tenant
from tests.console.people.conftest import NEW_PASSWORD, browser, invite, is_signed_in, link_in, sign_in

HASHERS = [
    "projects.accounts.password_hashing.QueuedHasher",
    "django.contrib.auth.hashers.MD5PasswordHasher",
]
EMAIL = "ada@new.example"


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> list[bool]:
    """For each hash, True if the thread of the request held a connection meanwhile."""
    settings.PASSWORD_HASHERS = HASHERS
    held: list[bool] = []
    of_request = [connections["default"], connections["ops"]]

    def pbkdf2(password: str, salt: str, iterations: int, digest: object) -> bytes:
        held.append(any(connection.connection is not None for connection in of_request))
        return f"{password}{salt}".encode()

    monkeypatch.setattr("django.contrib.auth.hashers.pbkdf2", pbkdf2)
    return held


def sign_up(email: str = EMAIL) -> Client:
    client = Client()
    client.post(reverse("account_signup"), {"email": email, "password1": NEW_PASSWORD})
    return client


def test_sign_in_holds_no_connection_while_it_hashes(hashed: list[bool], database: None) -> None:
    User.objects.create_user(EMAIL, PASSWORD)
    hashed.clear()
    assert is_signed_in(sign_in(EMAIL))
    assert hashed == [False]


@pytest.mark.parametrize("email", [EMAIL, "nobody@new.example"])
def test_a_wrong_password_is_hashed_once_without_a_connection(email: str, hashed: list[bool], database: None) -> None:
    User.objects.create_user(EMAIL, PASSWORD)
    hashed.clear()
    assert not is_signed_in(sign_in(email, "wrong password"))
    assert hashed == [False]


def test_sign_up_holds_no_connection_while_it_hashes(hashed: list[bool], database: None) -> None:
    assert is_signed_in(sign_up())
    assert hashed == [False]
    assert is_signed_in(sign_in(EMAIL, NEW_PASSWORD))


def test_an_invited_newcomer_holds_no_connection_while_it_hashes(tenant: Tenant, hashed: list[bool]) -> None:
    link = link_in(invite(browser(tenant.owner), tenant, EMAIL))
    client = Client()
    client.get(link)
    client.post(reverse("join"), {"name": "Ada", "password": NEW_PASSWORD})
    assert is_signed_in(client)
    assert hashed == [False]


def test_a_changed_password_holds_no_connection_while_it_hashes(tenant: Tenant, hashed: list[bool]) -> None:
    user = User.objects.create_user(EMAIL, PASSWORD)
    client = browser(user)
    hashed.clear()
    answer = client.post(
        reverse("account_change_password"),
        {"oldpassword": PASSWORD, "password1": NEW_PASSWORD, "password2": NEW_PASSWORD},
    )
    assert answer.status_code == 302
    assert set(hashed) == {False}
    assert is_signed_in(sign_in(EMAIL, NEW_PASSWORD))


@contextmanager
def all_places_taken(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One hash that doesn't end, in queue for one."""
    threads, end = HashThreads(threads=1, most_waiting=0), threading.Event()
    started = threading.Event()
    monkeypatch.setattr(password_hashing, "hash_threads", threads)

    def wait() -> str:
        started.set()
        end.wait()
        return ""

    with ThreadPoolExecutor(1) as executor:
        executor.submit(threads.run, wait)
        started.wait()
        try:
            yield
        finally:
            end.set()


@pytest.mark.parametrize("page", ["account_login", "account_signup"])
def test_more_hashes_than_fit_are_429(
    page: str, database: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    form = {"login": EMAIL, "email": EMAIL, "password": PASSWORD, "password1": PASSWORD}
    settings.PASSWORD_HASHERS = HASHERS
    with all_places_taken(monkeypatch):
        answer = Client().post(reverse(page), form)
        assert (answer.status_code, answer.headers["Retry-After"]) == (429, "5")
        assert Client().get(reverse(page)).status_code == 200
    assert not User.objects.filter(email=EMAIL).exists()


def at_once(threads: HashThreads, *, runs: int) -> int:
    """The most functions that ran at the same time."""
    running, most, lock = [0], [0], threading.Lock()
    both = threading.Event()

    def function() -> str:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
            if running[0] == 2:
                both.set()
        both.wait(timeout=5)
        with lock:
            running[0] -= 1
        return ""

    with ThreadPoolExecutor(runs) as executor:
        list(executor.map(lambda _: threads.run(function), range(runs)))
    return most[0]


def test_only_a_few_hashes_run_at_once() -> None:
    assert at_once(HashThreads(threads=2, most_waiting=6), runs=8) == 2


def test_a_place_is_free_again_after_a_failed_hash() -> None:
    threads = HashThreads(threads=1, most_waiting=0)

    def fail() -> str:
        raise ValueError

    for _ in range(2):
        with pytest.raises(ValueError, match=r"^$"):
            threads.run(fail)
    assert threads.run(lambda: "hash") == "hash"


def test_a_refused_hash_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    with all_places_taken(monkeypatch), pytest.raises(TooManyHashes):
        password_hashing.hash_threads.run(lambda: "hash")


def test_hashes_are_those_of_django(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = HASHERS
    hashed = make_password(PASSWORD)
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    user = User(password=hashed)
    check: Callable[[str], bool] = user.check_password
    assert (check(PASSWORD), check("another one")) == (True, False)


CLIENTS = 24


def sign_in_from(address: Address, number: int) -> int:
    """The status of a sign-in from an address range of its own."""
    local = (f"127.0.{number + 1}.9", 0)
    with closing(http.client.HTTPConnection(*address, timeout=60, source_address=local)) as connection:
        connection.request("GET", "/account/login/", headers={"Host": "localhost"})
        answer = connection.getresponse()
        page, cookie = answer.read().decode(), answer.headers["Set-Cookie"].split(";")[0]
        token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)
        assert token is not None
        form = urlencode({"login": f"n{number}@new.example", "password": PASSWORD, "csrfmiddlewaretoken": token[1]})
        headers = {"Host": "localhost", "Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded"}
        connection.request("POST", "/account/login/", form, headers)
        return connection.getresponse().status


def status_of(address: Address, path: str) -> int:
    with closing(http.client.HTTPConnection(*address, timeout=60)) as connection:
        connection.request("GET", path, headers={"Host": "localhost"})
        return connection.getresponse().status


def test_other_pages_answer_while_two_dozen_clients_sign_in(
    database: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No more of them are hashed than there are places, and none holds a connection."""
    settings.PASSWORD_HASHERS = HASHERS
    monkeypatch.setattr(password_hashing, "hash_threads", HashThreads(threads=2, most_waiting=18))
    end, refused = threading.Event(), threading.Semaphore(0)

    def pbkdf2(*_: object, **__: object) -> bytes:
        end.wait(timeout=60)
        return b"hash"

    def sign_in(number: int) -> int:
        status = sign_in_from(address, number)
        refused.release()
        return status

    monkeypatch.setattr("django.contrib.auth.hashers.pbkdf2", pbkdf2)
    with serve(application) as address, ThreadPoolExecutor(CLIENTS) as clients:
        signing_in = [clients.submit(sign_in, number) for number in range(CLIENTS)]
        try:
            for _ in range(4):
                assert refused.acquire(timeout=60)
            assert [status_of(address, "/healthz") for _ in range(10)] == [200] * 10
        finally:
            end.set()
        assert sorted(one.result() for one in signing_in) == [200] * 20 + [429] * 4
