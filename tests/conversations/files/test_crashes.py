"""Workers killed while contents move and objects are deleted: none is lost, and none is left over."""

from __future__ import annotations

import pytest

from conversations.models import Attachment
from tests.conversations.files.conftest import PNG, Files, make_due
from tests.processes import Child, ForkServer, until
from tests.s3_server import CREDENTIALS

pytestmark = pytest.mark.parametrize("place", ["bucket"], indirect=True)


def worker(files: Files, processes: ForkServer, *, crash_at: str = "") -> Child:
    env = {**CREDENTIALS, "MAKEGOOD_FILES": files.place.address}
    return processes.worker(queues="work", crash_at=crash_at, env=env)


@pytest.mark.parametrize("label", ["file.planned", "file.written_pre_commit", "file.moved"])
def test_a_content_whose_worker_dies_is_kept_once(label: str, files: Files, processes: ForkServer) -> None:
    doomed = worker(files, processes, crash_at=f"{label}:1")
    pk = files.upload()
    doomed.wait()
    make_due()
    worker(files, processes)
    until(lambda: files.row(pk).content is None, what="the move of the content")
    assert files.states() == ["kept"]
    assert files.place.objects() == {files.row(pk).object.name: PNG}


@pytest.mark.parametrize("label", ["file.deleted_pre_commit"])
def test_an_object_whose_worker_dies_is_deleted(label: str, files: Files, processes: ForkServer) -> None:
    pk = files.keep()
    doomed = worker(files, processes, crash_at=f"{label}:1")
    with files.tenant.tx():
        Attachment.objects.filter(pk=pk).delete()
    doomed.wait()
    make_due()
    worker(files, processes)
    until(lambda: not files.states(), what="the end of the object’s row")
    assert files.place.objects() == {}


def test_a_content_whose_worker_dies_leaves_nothing_if_the_file_goes(files: Files, processes: ForkServer) -> None:
    """The object that was written has no file any more."""
    doomed = worker(files, processes, crash_at="file.written_pre_commit:1")
    pk = files.upload()
    doomed.wait()
    assert files.place.objects()
    with files.tenant.tx():
        Attachment.objects.filter(pk=pk).delete()
    make_due()
    worker(files, processes)
    until(lambda: not files.states(), what="the end of the object’s row")
    assert files.place.objects() == {}
