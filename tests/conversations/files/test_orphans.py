"""`manage.py files --orphans`: objects that no row names are found in pages, and deleted on request."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest
from django.core.management import CommandError

from conversations.files.orphans import find_orphans
from tests.bypass_rls import bypass_rls
from tests.conversations.files.conftest import PNG, Files, Place
from tests.conversations.files.test_moves import run


@pytest.fixture
def old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every object is old enough."""
    monkeypatch.setattr("conversations.files.orphans.YOUNGEST", timedelta(0))


@pytest.fixture
def orphan(files: Files) -> str:
    """The object of a file that is newer than the restored backup, beside one that has its row."""
    lost = files.keep()
    [name] = files.place.objects()
    bypass_rls("alter table conversations_attachment disable trigger user")
    bypass_rls(f"delete from conversations_attachment where id = '{lost}'")
    bypass_rls("alter table conversations_attachment enable trigger user")
    bypass_rls("delete from conversations_storedobject")
    files.keep(b"Hello")
    return name


def test_an_orphan_is_listed_and_deleted_on_request_alone(files: Files, orphan: str, old: None) -> None:
    listed = run("--orphans")
    assert (f"{files.place.name}/{orphan}" in listed, len(files.place.objects())) == (True, 2)
    run("--delete-orphans")
    assert list(files.place.objects().values()) == [b"Hello"]
    assert "no orphans" in run("--orphans")


def test_a_young_object_is_never_touched(files: Files, orphan: str) -> None:
    run("--delete-orphans")
    assert orphan in files.place.objects()


def test_objects_that_are_not_ours_are_left_alone(files: Files, old: None) -> None:
    """Of another installation in the same bucket, and of another program."""
    organization = str(files.tenant.organization.pk.hex)
    for name in (f"{uuid4().hex}/{uuid4().hex}", f"{organization}/notes.txt"):
        write(files.place, name)
    assert "2 objects left alone" in run("--delete-orphans")
    assert len(files.place.objects()) == 2


def test_what_an_interrupted_probe_has_left_is_an_orphan(files: Files, old: None) -> None:
    name = f"probe-{uuid4().hex}"
    write(files.place, name)
    [page] = find_orphans(files.place.name)
    assert [one.name for one in page.orphans] == [name]


def test_a_place_is_read_in_pages(files: Files, old: None, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("bucket", "folder"):
        monkeypatch.setattr(f"conversations.files.{module}.PAGE", 2)
    organization = files.tenant.organization.pk.hex
    for _ in range(5):
        write(files.place, f"{organization}/{uuid4().hex}")
    assert [(page.read, len(page.orphans)) for page in find_orphans(files.place.name)] == [(2, 2), (2, 2), (1, 1)]


@pytest.mark.parametrize("place", ["folder"], indirect=True)
def test_a_storage_that_is_away_is_named(files: Files) -> None:
    assert files.place.folder is not None
    files.place.folder.rmdir()
    with pytest.raises(CommandError, match="can't be used"):
        run("--orphans")


def write(place: Place, name: str) -> None:
    if place.folder is not None:
        (place.folder / name).parent.mkdir(exist_ok=True)
        (place.folder / name).write_bytes(PNG)
    else:
        place.put(name, PNG)
