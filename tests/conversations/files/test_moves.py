"""`manage.py files`: contents move between PostgreSQL, a folder and a bucket, and doctor says what is wrong."""

from __future__ import annotations

import io
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from conversations.files.moves import count_planned
from conversations.files.upkeep import tend_due
from conversations.models import Attachment
from operations.files import probe_files
from operations.finding import State
from tests.bypass_rls import bypass_rls
from tests.conversations.files.conftest import PNG, Files, Place, make_due
from tests.file_places import set_file_places


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("files", *arguments, stdout=out, stderr=out)
    return out.getvalue()


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Any:
    return lambda *addresses: set_file_places(monkeypatch, settings, *addresses)


@pytest.mark.parametrize("place", ["folder"], indirect=True)
def test_contents_move_from_postgresql_to_a_folder_to_a_bucket_and_back(files: Files, bucket: Place, use: Any) -> None:
    folder = files.place
    use("postgresql:")
    pk = files.upload()
    use(folder.address)
    run("--move")
    assert list(folder.objects().values()) == [PNG]
    use(bucket.address, folder.address)
    run("--move")
    assert list(bucket.objects().values()) == [PNG]
    use("postgresql:", bucket.address, folder.address)
    run("--move")
    row = files.row(pk)
    assert (bytes(row.content or b""), row.object) == (PNG, None)
    make_due()
    tend_due()
    assert (folder.objects(), bucket.objects(), files.states()) == ({}, {}, [])


@pytest.mark.parametrize("place", ["folder"], indirect=True)
def test_a_move_goes_on_after_the_content_that_fails(files: Files, bucket: Place, use: Any) -> None:
    """Whoever replaced the content in the folder doesn't get it into the bucket."""
    files.keep()
    [wrong] = files.place.objects()
    files.keep(b"Hello")
    files.place.put(wrong, b"<script>")
    use(bucket.address, files.place.address)
    with pytest.raises(SystemExit):
        run("--move")
    make_due()
    with pytest.raises(SystemExit):
        run("--move")
    assert list(bucket.objects().values()) == [b"Hello"]
    assert count_planned() == 1


@pytest.mark.parametrize("place", ["folder"], indirect=True)
def test_a_move_to_a_place_that_is_away_plans_nothing(files: Files, use: Any, tmp_path: Any) -> None:
    files.upload()
    bypass_rls("delete from conversations_storedobject")
    use(f"file://{tmp_path}/missing")
    with pytest.raises(CommandError, match="missing"):
        run("--move")
    assert count_planned() == 0


@pytest.mark.parametrize("place", ["folder"], indirect=True)
def test_the_command_says_what_is_where(files: Files) -> None:
    files.keep()
    files.upload(b"Hello")
    out = run()
    assert f"{files.place.name}  1 files" in out
    assert "postgresql:  1 files" in out
    assert "1 to be moved to" in out


def test_doctor_writes_to_a_place_and_leaves_nothing(files: Files) -> None:
    assert probe_files().state is State.OK
    assert files.place.objects() == {}


@pytest.mark.parametrize("place", ["bucket"], indirect=True)
def test_doctor_names_a_bucket_that_is_missing(files: Files, use: Any) -> None:
    use(files.place.address.replace("files-", "none-", 1))
    section = probe_files()
    assert section.state is State.BAD
    assert "none-" in section.findings[-1].says


@pytest.mark.parametrize("place", ["folder"], indirect=True)
def test_doctor_names_a_place_that_was_removed_too_early(files: Files, use: Any) -> None:
    files.keep()
    with files.tenant.tx():
        Attachment.objects.all().delete()
    use("postgresql:")
    assert any(files.place.name in finding.says for finding in probe_files().findings)
