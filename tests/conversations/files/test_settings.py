"""MAKEGOOD_FILES: what it takes, and what it refuses in words."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.file_places import file_places
from conversations.files.bucket import Bucket

ENDPOINT = "endpoint=https://s3.example.com"


def places(monkeypatch: pytest.MonkeyPatch, value: str) -> dict[str, dict[str, object]]:
    monkeypatch.setitem(os.environ, "MAKEGOOD_FILES", value)
    return file_places()


def test_without_the_setting_contents_are_in_postgresql(monkeypatch: pytest.MonkeyPatch) -> None:
    assert places(monkeypatch, "") == {"postgresql:": {}}


def test_the_first_place_takes_new_files(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    found = places(monkeypatch, f"s3://shop-files/a/b?{ENDPOINT}&region=eu-1, file://{tmp_path}, postgresql:")
    assert list(found) == ["s3://shop-files/a/b", f"file://{tmp_path}", "postgresql:"]
    assert found["s3://shop-files/a/b"]["OPTIONS"] == {
        "bucket_name": "shop-files",
        "location": "a/b",
        "endpoint_url": "https://s3.example.com",
        "region_name": "eu-1",
    }


@pytest.mark.parametrize(
    ("value", "named"),
    [
        ("/srv/files", "postgresql:"),
        ("http://bucket/prefix", "s3://bucket"),
        ("file://srv/files", "three slashes"),
        ("file:///", "absolute folder"),
        ("s3://", "bucket"),
        ("s3://Shop_Files", "bucket"),
        ("s3://shop/a%20b c", "bucket"),
        ("s3://key:secret@shop", "AWS_SECRET_ACCESS_KEY"),
        ("s3://shop?endpoint=minio:9000", "endpoint"),
        ("s3://shop?endpoint=https://key:secret@minio", "without a key"),
        ("s3://shop?acl=public-read", "acl"),
        (f"s3://shop,s3://shop?{ENDPOINT}", "twice"),
    ],
)
def test_a_wrong_address_is_refused(value: str, named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ImproperlyConfigured, match=named) as refused:
        places(monkeypatch, value)
    assert "secret@" not in str(refused.value)


def test_missing_packages_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("config.file_places.find_spec", lambda name: None)
    with pytest.raises(ImproperlyConfigured, match=r"requirements-s3\.txt"):
        places(monkeypatch, "s3://shop")


def test_a_bucket_takes_its_key_from_boto(monkeypatch: pytest.MonkeyPatch) -> None:
    """A profile or a role works beside variables, which django-storages would prefer."""
    monkeypatch.setitem(os.environ, "AWS_ACCESS_KEY_ID", "variable")
    bucket = Bucket(bucket_name="shop", session_profile="other")
    assert (bucket.access_key, bucket.session_profile) == (None, "other")


def test_a_file_is_written_in_one_request() -> None:
    """Of one in several parts, those that a dead worker has sent would remain and cost money."""
    bucket = Bucket(bucket_name="shop")
    assert bucket.transfer_config.multipart_threshold > 10 * 1024 * 1024
