"""The storages of files, from MAKEGOOD_FILES, as Django's STORAGES."""

from __future__ import annotations

import os
import re
from importlib.util import find_spec
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured

# The contents are columns of their rows.
POSTGRESQL = "postgresql:"
BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
PREFIX = re.compile(r"[\w!.*'()/-]*", re.ASCII)
OPTIONS = {"endpoint": "endpoint_url", "region": "region_name", "profile": "session_profile"}
FORMS = "postgresql:, file:///srv/makegood/files or s3://bucket/prefix?endpoint=https://s3.example.com&region=eu-1"
INSTALL = "python3 config/runner/install.py requirements-s3.txt"


def file_places() -> dict[str, dict[str, Any]]:
    """The storages by their addresses, the one for new files first. Raises ImproperlyConfigured."""
    addresses = [one.strip() for one in os.environ.get("MAKEGOOD_FILES", "").split(",") if one.strip()]
    places = dict(_place(address) for address in addresses or [POSTGRESQL])
    if len(places) < len(addresses):
        raise ImproperlyConfigured("Set MAKEGOOD_FILES to addresses that differ: one of them is named twice.")
    return places


def _place(address: str) -> tuple[str, dict[str, Any]]:
    parts = urlsplit(address)
    if address == POSTGRESQL:
        return POSTGRESQL, {}
    if parts.scheme == "file":
        return _folder(address, parts)
    if parts.scheme == "s3":
        return _bucket(address, parts)
    raise ImproperlyConfigured(f"Set MAKEGOOD_FILES to {FORMS}: {_shown(parts)!r} is none of these.")


def _folder(address: str, parts: SplitResult) -> tuple[str, dict[str, Any]]:
    path = os.path.normpath(unquote(parts.path)) if parts.path else ""
    if parts.netloc or parts.query or parts.fragment or path in ("", "/", "//"):
        raise ImproperlyConfigured(
            f"Set MAKEGOOD_FILES to an absolute folder such as file:///srv/makegood/files, with three slashes: {address!r}."
        )
    return f"file://{path}", {"BACKEND": "conversations.files.folder.Folder", "OPTIONS": {"location": path}}


def _bucket(address: str, parts: SplitResult) -> tuple[str, dict[str, Any]]:
    prefix, given = parts.path.strip("/"), dict(parse_qsl(parts.query, keep_blank_values=True))
    if "@" in parts.netloc:
        raise ImproperlyConfigured(
            "Take the key out of MAKEGOOD_FILES: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY."
        )
    if not BUCKET.fullmatch(parts.netloc) or not PREFIX.fullmatch(prefix) or parts.fragment:
        raise ImproperlyConfigured(
            f"Set MAKEGOOD_FILES to s3://bucket/prefix: {_shown(parts)!r} names no valid bucket."
        )
    if wrong := given.keys() - OPTIONS.keys():
        known = ", ".join(OPTIONS)
        raise ImproperlyConfigured(
            f"MAKEGOOD_FILES: an s3:// address takes {known}, and not {', '.join(sorted(wrong))}."
        )
    _check_endpoint(given.get("endpoint"))
    if find_spec("boto3") is None or find_spec("storages") is None:
        raise ImproperlyConfigured(f"MAKEGOOD_FILES needs the packages of S3: run {INSTALL}")
    options = {OPTIONS[name]: value for name, value in given.items()}
    place = f"s3://{parts.netloc}/{prefix}".rstrip("/")
    return place, {
        "BACKEND": "conversations.files.bucket.Bucket",
        "OPTIONS": {"bucket_name": parts.netloc, "location": prefix, **options},
    }


def _check_endpoint(endpoint: str | None) -> None:
    if endpoint is None:
        return
    parts = urlsplit(endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or "@" in parts.netloc:
        raise ImproperlyConfigured("MAKEGOOD_FILES: endpoint is an address like https://s3.example.com, without a key.")


def _shown(parts: SplitResult) -> str:
    """The address without a password."""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
