from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from conversations.files.upkeep import tend_due
from conversations.handover.attachments import upload
from conversations.models import Attachment, Conversation
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant
from tests.console.pages.conftest import talk
from tests.file_places import set_file_places
from tests.s3_server import CREDENTIALS, S3Server, s3_server

PNG = b"\x89PNG\r\n\x1a\n" + bytes(40) + bytes(range(256))


@dataclass
class Place:
    """A place of contents, and what is in it."""

    address: str
    folder: Path | None = None
    server: S3Server | None = None
    bucket: str = ""

    @property
    def name(self) -> str:
        """The address as rows keep it."""
        return self.address.partition("?")[0]

    def objects(self) -> dict[str, bytes]:
        if self.folder is not None:
            return {str(path.relative_to(self.folder)): path.read_bytes() for path in self.folder.glob("*/*")}
        assert self.server is not None
        found = self.server.objects(self.bucket)
        return {name.removeprefix("files/"): content for name, content in found.items()}

    def put(self, name: str, content: bytes | None) -> None:
        """Change an object behind the product's back, or delete it."""
        if self.folder is not None:
            path = self.folder / name
            path.unlink() if content is None else path.write_bytes(content)
            return
        assert self.server is not None
        where = {"Bucket": self.bucket, "Key": f"files/{name}"}
        client = self.server.client()
        client.delete_object(**where) if content is None else client.put_object(**where, Body=content)


@dataclass
class Files:
    """Files of one conversation."""

    tenant: Tenant
    conversation: Conversation
    place: Place

    def upload(self, content: bytes = PNG, *, name: str = "") -> UUID:
        """Upload a file, by default with a name that fits its content."""
        name = name or ("room.png" if content == PNG else "note.txt")
        with self.tenant.tx():
            return upload(self.conversation, content, name=name, by=self.tenant.owner).pk

    def keep(self, content: bytes = PNG) -> UUID:
        """Upload a file, and let its content move to the place."""
        pk = self.upload(content)
        tend_due()
        return pk

    def row(self, pk: UUID) -> Attachment:
        with self.tenant.tx():
            return Attachment.objects.select_related("object").get(pk=pk)

    def states(self) -> list[str]:
        return [
            str(state) for (state,) in bypass_rls("select state from conversations_storedobject order by created_at")
        ]


def make_due() -> None:
    """End every claim and every pause of the objects."""
    bypass_rls("update conversations_storedobject set due_at = clock_timestamp() where due_at is not null")


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


@pytest.fixture
def bucket(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Place:
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    name = f"files-{uuid4().hex[:12]}"
    s3.make_bucket(name)
    return Place(s3.place(name), server=s3, bucket=name)


@pytest.fixture
def folder(tmp_path: Path) -> Place:
    path = tmp_path / "files"
    path.mkdir()
    return Place(f"file://{path}", folder=path)


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, settings: Any) -> Place:
    """A place that takes new contents."""
    found: Place = request.getfixturevalue(request.param)
    set_file_places(monkeypatch, settings, found.address)
    return found


@pytest.fixture
def files(tenant: Tenant, place: Place) -> Files:
    return Files(tenant, talk(tenant, "Hi"), place)
