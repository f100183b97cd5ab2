"""Everything that an organization has stored, table by table, as JSON lines and files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db.models import Model
from django.utils import timezone
from pydantic_core import to_json

from conversations.models import Attachment
from privacy.export.customer import add_file
from privacy.export.records import files_in, record
from privacy.export.zip_stream import ZipStream
from privacy.registry import TABLES
from projects.models import AuditAction, Member, Organization, User
from projects.records.audit import record_change
from tenancy.personal_data import TableContents
from tenancy.scope import tenant_tx

FORMAT = "makegood-organization/1"
ROWS = 500


@dataclass(frozen=True)
class OrganizationExport:
    """One download. `authorize` runs before each page of rows, and raises if the owner has lost access meanwhile."""

    organization_id: UUID
    authorize: Callable[[], object] = field(repr=False)

    @property
    def file_name(self) -> str:
        return f"organization-{timezone.now():%Y-%m-%d}.zip"

    def pieces(self) -> Iterator[bytes]:
        """The ZIP file in pieces: 500 rows, or one file, per transaction."""
        zip_file = ZipStream()
        counts: dict[str, int] = {}
        for contents in TABLES:
            yield from self._table(zip_file, contents, counts)
        yield from self._files(zip_file)
        with tenant_tx(self.organization_id):
            zip_file.add("organization.json", to_json(self._about(counts), indent=2))
        yield zip_file.close()

    def _table(self, zip_file: ZipStream, contents: TableContents, counts: dict[str, int]) -> Iterator[bytes]:
        after: Any = None
        counts[contents.table] = 0
        with zip_file.open(f"tables/{contents.table}.jsonl") as file:
            while True:
                self.authorize()
                with tenant_tx(self.organization_id):
                    rows = _page(contents, self.organization_id, after)
                    lines = [to_json(record(row, contents, with_staff=True)) + b"\n" for row in rows]
                file.write(b"".join(lines))
                counts[contents.table] += len(rows)
                yield zip_file.take()
                if len(rows) < ROWS:
                    return
                after = rows[-1].pk

    def _files(self, zip_file: ZipStream) -> Iterator[bytes]:
        with tenant_tx(self.organization_id):
            ids = list(Attachment.objects.order_by("pk").values_list("pk", flat=True))
        for pk in ids:
            self.authorize()
            with tenant_tx(self.organization_id):
                row = Attachment.objects.select_related("object").filter(pk=pk).first()
            if row is not None:
                add_file(zip_file, row)
                yield zip_file.take()

    def _about(self, counts: dict[str, int]) -> dict[str, Any]:
        organization = Organization.objects.get(pk=self.organization_id)
        members = Member.objects.select_related("user").order_by("pk")
        return {
            "format": FORMAT,
            "exported_at": timezone.now(),
            "name": organization.name,
            "members": [{"name": one.user.name, "email": one.user.email, "role": one.role} for one in members],
            "rows": counts,
            "tables": {contents.table: contents.about for contents in TABLES},
        }


def begin_organization_export(
    organization: Organization, *, by: User, authorize: Callable[[], object]
) -> OrganizationExport:
    """An export of everything that the organization has stored. Runs in its transaction, which records it."""
    record_change(AuditAction.ORGANIZATION_EXPORTED, organization_id=organization.pk, by=by, subject=organization.name)
    return OrganizationExport(organization.pk, authorize)


def _page(contents: TableContents, organization_id: UUID, after: Any) -> list[Model]:
    """The next rows by their ids. Row-level security limits tables of other packages, which have no manager of ours."""
    rows = contents.model._default_manager.order_by("pk")
    if contents.model is Organization:
        rows = rows.filter(pk=organization_id)
    if left_out := files_in(contents.model):
        rows = rows.defer(*left_out)
    return list((rows.filter(pk__gt=after) if after is not None else rows)[:ROWS])
