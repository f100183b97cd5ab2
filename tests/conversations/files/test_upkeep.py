"""Contents in a folder and in a bucket: written after their rows, read from there, and deleted with them."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from conversations.common.attachment_links import attachment_url
from conversations.files.contents import content_of, load
from conversations.files.places import FilesUnavailable
from conversations.files.upkeep import tend_due
from conversations.models import Attachment, StoredObject
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant
from tests.conversations.files.conftest import PNG, Files, make_due
from tests.file_places import set_file_places


def opened(files: Files, pk: Any) -> Any:
    path = "/files/" + attachment_url(files.tenant.organization.pk, pk).rpartition("/")[2]
    return Client().get(path)


def test_a_content_moves_to_its_place_after_the_upload(files: Files) -> None:
    pk = files.upload()
    assert bytes(files.row(pk).content or b"") == PNG
    tend_due()
    row = files.row(pk)
    assert (row.content, row.object.place) == (None, files.place.name)
    assert files.place.objects() == {row.object.name: PNG}


def test_the_name_of_an_object_says_nothing_about_the_file(files: Files) -> None:
    pk = files.keep()
    name = next(iter(files.place.objects()))
    assert name.split("/")[0] == files.tenant.organization.pk.hex
    assert pk.hex not in name
    assert "room" not in name


def test_a_file_is_served_alike_from_its_row_and_from_its_place(files: Files) -> None:
    pk = files.upload()
    before = opened(files, pk)
    tend_due()
    after = opened(files, pk)
    assert (after.status_code, after.content) == (200, PNG)
    assert {**after.headers, "X-Request-ID": ""} == {**before.headers, "X-Request-ID": ""}


def test_a_content_that_is_gone_is_not_found(files: Files) -> None:
    pk = files.keep()
    files.place.put(next(iter(files.place.objects())), None)
    assert opened(files, pk).status_code == 404


def test_another_content_than_was_stored_is_not_served(files: Files) -> None:
    pk = files.keep()
    files.place.put(next(iter(files.place.objects())), b"<script>")
    refused = opened(files, pk)
    assert (refused.status_code, refused["Retry-After"]) == (503, "10")
    assert b"script" not in refused.content


def test_the_object_goes_with_the_file(files: Files) -> None:
    pk, kept = files.keep(), files.keep(b"Hello")
    with files.tenant.tx():
        Attachment.objects.filter(pk=pk).delete()
    tend_due()
    assert list(files.place.objects().values()) == [b"Hello"]
    assert files.states() == ["kept"]
    assert opened(files, kept).status_code == 200


def test_a_file_that_is_deleted_before_its_content_moves_leaves_nothing(files: Files) -> None:
    pk = files.upload()
    with files.tenant.tx():
        Attachment.objects.filter(pk=pk).delete()
    tend_due()
    assert (files.place.objects(), files.states()) == ({}, [])


def test_a_file_that_is_deleted_while_its_content_moves_leaves_nothing(
    files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker that has written the object deletes it."""
    pk = files.upload()

    def delete_meanwhile(label: str) -> None:
        if label == "file.written_pre_commit":
            assert files.place.objects()
            with files.tenant.tx():
                Attachment.objects.filter(pk=pk).delete()

    monkeypatch.setattr("conversations.files.upkeep.failpoint", delete_meanwhile)
    tend_due()
    assert (files.place.objects(), files.states()) == ({}, [])


def test_a_content_that_two_workers_move_is_kept_once(files: Files, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lease of the first ends while it writes; the second is done before it."""
    pk = files.upload()
    has_died = []

    def take_over(label: str) -> None:
        if label == "file.written_pre_commit" and not has_died:
            has_died.append(True)
            make_due()
            tend_due()

    monkeypatch.setattr("conversations.files.upkeep.failpoint", take_over)
    tend_due()
    assert files.states() == ["kept"]
    assert files.place.objects() == {files.row(pk).object.name: PNG}


def test_an_upload_works_while_the_place_is_away(
    files: Files, monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any
) -> None:
    place = files.place
    set_file_places(monkeypatch, settings, f"file://{tmp_path}/not-mounted")
    pk = files.keep()
    assert opened(files, pk).content == PNG
    [(state, error)] = bypass_rls("select state, error from conversations_storedobject")
    assert (state, bool(error)) == ("planned", True)
    (tmp_path / "not-mounted").mkdir()
    make_due()
    tend_due()
    assert opened(files, pk).content == PNG
    assert place.objects() == {}
    assert files.row(pk).content is None


def test_a_deletion_waits_for_a_place_that_is_away(
    files: Files, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    pk = files.keep()
    address = files.place.address
    set_file_places(monkeypatch, settings, "postgresql:")
    with files.tenant.tx():
        Attachment.objects.filter(pk=pk).delete()
    tend_due()
    assert files.states() == ["leaving"]
    set_file_places(monkeypatch, settings, "postgresql:", address)
    make_due()
    tend_due()
    assert (files.place.objects(), files.states()) == ({}, [])


def test_objects_belong_to_their_tenant(files: Files, stranger: Tenant) -> None:
    files.keep()
    with stranger.tx():
        assert not StoredObject.objects.exists()


def test_a_place_that_is_not_configured_is_named(files: Files, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    content = content_of(files.row(files.keep()))
    set_file_places(monkeypatch, settings, "postgresql:")
    with pytest.raises(FilesUnavailable, match="MAKEGOOD_FILES"):
        load(content)
