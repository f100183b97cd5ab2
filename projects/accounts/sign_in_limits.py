"""Limits of password attempts: per address range, and a delay per account.

Wrong passwords never lock an account. They delay the next attempts, except in browsers that have signed in to it before,
which are delayed by their own wrong passwords only.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from time import sleep
from typing import Any

from allauth.core.internal import ratelimit
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from redis import RedisError

from projects.accounts.known_browsers import read_browser, remember_browser
from projects.accounts.password_hashing import release_connections
from projects.common.addresses import client_range
from projects.models import User

# Wrong passwords before attempts are delayed, and how long they count.
FREE, WINDOW_SECONDS = 5, 900
LONGEST_DELAY = 8.0
# Delayed attempts at once: for an account from one address range, and in this process.
DELAYED_PER_RANGE, DELAYED = 3, 32


class Delays:
    """The delayed attempts of this process. Each holds a thread, but no connection."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: Counter[str] = Counter()

    @contextmanager
    def enter(self, name: str) -> Iterator[bool]:
        """Count one attempt while it waits. Yields False if there are too many already."""
        with self._lock:
            has_place = self._waiting[name] < DELAYED_PER_RANGE and self._waiting.total() < DELAYED
            self._waiting[name] += has_place
        try:
            yield has_place
        finally:
            with self._lock:
                self._waiting[name] -= has_place
                if not self._waiting[name]:
                    del self._waiting[name]


delays = Delays()


def seconds_of(wrong: int) -> float:
    """The delay after this many wrong passwords: none, then 1, 2, 4 and 8 seconds."""
    return 0.0 if wrong < FREE else min(2.0 ** (wrong - FREE), LONGEST_DELAY)


class LimitedSignIn:
    """Mixin of the account adapter that applies the limits."""

    request: HttpRequest

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Wait as long as the wrong passwords before require. Raises ValidationError for too many attempts at once."""
        self._wrong_key, is_known = _counter_of(request, credentials.get("email", ""))
        if not is_known:
            self._limit_range(request)
        if seconds := seconds_of(_count(self._wrong_key)):
            with delays.enter(f"{self._wrong_key}:{client_range(request)}") as has_place:
                if not has_place:
                    raise self.validation_error("too_many_at_once")  # type: ignore[attr-defined]  # the adapter's
                release_connections()
                sleep(seconds)

    def _limit_range(self, request: HttpRequest) -> None:
        # allauth takes the usage back when the password is right.
        usage = ratelimit.consume(request, app="allauth.account", action="wrong_password")
        self._login_failed_rl_usage = usage
        if not usage:
            raise self.validation_error("rate_limited")  # type: ignore[attr-defined]  # the adapter's

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        _add_wrong(self._wrong_key)

    def _delete_login_attempts_cached_email(self, request: HttpRequest, **credentials: Any) -> None:
        """allauth calls this after a password reset."""
        super()._delete_login_attempts_cached_email(request, **credentials)  # type: ignore[misc]  # the adapter's
        cache.delete(_account_key(credentials["email"]))

    def get_client_ip(self, request: HttpRequest) -> str:
        """The address range that allauth's limits count by."""
        return client_range(request)

    def send_notification_mail(
        self, template_prefix: str, user: User, context: dict[str, Any] | None = None, email: str | None = None
    ) -> None:
        """Name the whole address in the e-mail."""
        full = {"ip": self.request.META.get("REMOTE_ADDR", ""), **(context or {})}
        super().send_notification_mail(template_prefix, user, full, email)  # type: ignore[misc]  # the adapter's

    def post_login(self, request: HttpRequest, user: User, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().post_login(request, user, **kwargs)  # type: ignore[misc]  # the adapter's
        remember_browser(request, response, user)
        return response


def _counter_of(request: HttpRequest, email: str) -> tuple[str, bool]:
    """The key of the counter for this attempt, and True if it belongs to a browser known to the account."""
    browser, account = read_browser(request), _account_key(email)
    if browser and User.objects.filter(email__iexact=email, pk__in=browser.users).exists():
        return f"{account}:{browser.name}", True
    return account, False


def _account_key(email: str) -> str:
    return f"wrong_passwords:{hashlib.sha256(email.strip().lower().encode()).hexdigest()}"


def _count(key: str) -> int:
    """The wrong passwords counted; 0 while Redis is unavailable."""
    try:
        return int(cache.get(key, 0))
    except RedisError:
        return 0


def _add_wrong(key: str) -> None:
    try:
        cache.add(key, 0, timeout=WINDOW_SECONDS)
        cache.incr(key)
    except (RedisError, ValueError):  # ValueError: it expired in between
        return
