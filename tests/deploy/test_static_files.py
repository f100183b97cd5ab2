"""Static files have a version in their address and are kept for a year, and no page gets a wrong file for that long."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotFound
from django.templatetags.static import static
from django.test import Client, RequestFactory
from pytest_django import Settings

from config.static_files import KEPT, VersionedMiddleware, static_files

ROOT = Path(__file__).resolve().parents[2] / "static"
OTHER = "0" * 12


@pytest.fixture
def folder(tmp_path: Path, settings: Settings) -> Iterator[Path]:
    """The folder of all static files there are. It holds `one.js`."""
    (tmp_path / "one.js").write_text("1")
    settings.STATICFILES_DIRS = [tmp_path]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    static_files.cache_clear()
    yield tmp_path
    static_files.cache_clear()


def absent(request: HttpRequest) -> HttpResponseBase:
    return HttpResponseNotFound()


def get(serve: VersionedMiddleware, address: str) -> tuple[int, bytes, str]:
    """The status, the content and the caching of a file."""
    answer = serve(RequestFactory().get(address))
    content = b"".join(answer) if answer.streaming else b""
    answer.close()
    return answer.status_code, content, answer.headers.get("Cache-Control", "")


def test_an_address_has_a_version_and_is_kept_for_a_year(folder: Path) -> None:
    address = static("one.js")
    assert address == f"/static/{static_files().version}/one.js"
    assert get(VersionedMiddleware(absent), address) == (200, b"1", "public, max-age=31536000, immutable")


def test_a_change_of_any_file_is_another_version(folder: Path) -> None:
    first = static("one.js")
    (folder / "two.js").write_text("2")
    static_files.cache_clear()
    second = static("one.js")
    (folder / "two.js").write_text("3")
    static_files.cache_clear()
    assert len({first, second, static("one.js")}) == 3


def test_another_version_gets_the_current_file_and_is_not_kept(folder: Path) -> None:
    """Old pages stay open over a deployment, and during one a page may come from another server than its files."""
    assert get(VersionedMiddleware(absent), f"/static/{OTHER}/one.js") == (200, b"1", "no-cache")


def test_an_address_without_a_version_is_kept_for_a_minute(folder: Path) -> None:
    assert get(VersionedMiddleware(absent), "/static/one.js") == (200, b"1", "max-age=60, public")


def test_a_file_that_changed_on_disk_is_whole_and_not_kept_under_this_version(folder: Path) -> None:
    serve, address = VersionedMiddleware(absent), static("one.js")
    (folder / "one.js").write_text("of the next release")
    assert get(serve, address) == (200, b"of the next release", "no-cache")


def test_a_file_that_disappeared_is_not_found(folder: Path) -> None:
    serve, address = VersionedMiddleware(absent), static("one.js")
    (folder / "one.js").unlink()
    assert get(serve, address)[0] == 404


def test_debug_serves_edits_at_once_from_addresses_without_a_version(folder: Path, settings: Settings) -> None:
    settings.DEBUG = True
    serve = VersionedMiddleware(absent)
    (folder / "one.js").write_text("edited")
    assert get(serve, static("one.js")) == (200, b"edited", "max-age=0, public")


def test_every_address_of_a_page_has_the_version_and_leads_to_a_file(database: None) -> None:
    client = Client()
    addresses = re.findall(r'="(/static/[^"#]+)', client.get("/account/login/").content.decode())
    assert len(addresses) > 5
    assert {client.head(one).headers.get("Cache-Control") for one in addresses} == {KEPT}


def test_files_refer_to_each_other_by_relative_addresses() -> None:
    """A relative address leads to the version of the file that it is in; an absolute one would lead to none."""
    texts = {path: path.read_text() for path in ROOT.rglob("*") if path.suffix in {".js", ".css"}}
    assert [path.name for path, text in texts.items() if "/static/" in text] == []
