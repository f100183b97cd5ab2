"""HSTS and the other security headers of every response."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from django.test import Client
from pytest_django import Settings

PATHS = ["/healthz", "/api/v1/attributes", "/account/login/"]
HSTS = "Strict-Transport-Security"


def settings_of(name: str, **env: str) -> str:
    """A setting as a new process reads it."""
    command = [sys.executable, "-c", f"from config import settings; print(settings.{name})"]
    outside = {key: value for key, value in os.environ.items() if key != "MAKEGOOD_ALLOWED_HOSTS"}
    return subprocess.run(command, env=outside | env, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.parametrize("path", PATHS)
def test_hsts_is_sent_over_tls(path: str, database: None, settings: Settings) -> None:
    settings.HSTS_SECONDS = 3600
    assert Client().get(path, secure=True).headers[HSTS] == "max-age=3600"
    assert HSTS not in Client().get(path).headers


def test_hsts_names_subdomains_and_preload_if_set(database: None, settings: Settings) -> None:
    settings.HSTS_SECONDS, settings.HSTS_SUBDOMAINS, settings.HSTS_PRELOAD = 60, True, True
    assert Client().get("/healthz", secure=True).headers[HSTS] == "max-age=60; includeSubDomains; preload"


def test_hsts_is_off_with_zero_seconds(database: None, settings: Settings) -> None:
    settings.HSTS_SECONDS = 0
    assert HSTS not in Client().get("/healthz", secure=True).headers


@pytest.mark.parametrize(("base_url", "seconds"), [("https://makegood.example", "31536000"), ("http://x.example", "0")])
def test_hsts_is_on_if_the_public_address_is_https(base_url: str, seconds: str) -> None:
    assert settings_of("HSTS_SECONDS", MAKEGOOD_BASE_URL=base_url) == seconds


@pytest.mark.parametrize("path", PATHS)
def test_every_response_limits_sniffing_and_referrers(path: str, database: None) -> None:
    headers = Client().get(path).headers
    assert (headers["X-Content-Type-Options"], headers["Referrer-Policy"]) == ("nosniff", "same-origin")


def test_only_local_names_are_hosts_by_default() -> None:
    assert settings_of("ALLOWED_HOSTS") == "['localhost', '127.0.0.1', '[::1]']"
