"""CSV downloads of lists, streamed a page of rows at a time.

A page is read in a short transaction of its own, and the next one only when the client has taken the one before: a slow
client holds neither a transaction nor a connection, and memory doesn't grow with the list. Rows follow in the order of
their creation, newest first, so that a row that changes during the download is neither missed nor repeated.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import override
from django.views.decorators.http import require_safe

from console.access import signed_in_user, zone_of
from outbound.tenant import on_behalf_of
from projects.models import AuditAction, User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from projects.records.audit import record_change
from tenancy.replica import report_tx
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

PAGE = 500
# Excel reads UTF-8 only with a byte order mark.
MARK = "\ufeff"
# Beginnings that a spreadsheet takes for a formula, also in full width, and after white space.
FORMULA = re.compile(r"[\t\r\n]|\s*[=+\-@＝＋－＠]")
INERT = "'"
LONGEST_FILTER = 400

Row = TypeVar("Row")
M = TypeVar("M", bound=Model)
Cell = str | int | bool | datetime | UUID | None
View = Callable[..., Coroutine[Any, Any, HttpResponseBase]]


@dataclass(frozen=True)
class Batch(Generic[Row]):
    """A page of rows, and the cursor of the next one; None at the end."""

    rows: Sequence[Row]
    next: Any = None


@dataclass(frozen=True)
class CsvList(Generic[Row]):
    """A list as CSV: its name in file names and in the audit log, and its columns by their headers.

    `read` returns the rows after a cursor, narrowed by the query string of the list's page. It runs in the tenant's
    transaction, once per page.
    """

    name: str
    columns: Mapping[str, Callable[[Row], Cell]] = field(repr=False)
    read: Callable[[Entry, QueryDict, Any], Batch[Row]] = field(repr=False)
    scope: Scope = Scope.READ
    is_developer: bool = False


@dataclass(frozen=True)
class Download:
    """One download, by one member."""

    listed: CsvList[Any]
    user: User
    project_slug: str
    parameters: QueryDict

    def begin(self) -> tuple[UUID, str, Any]:
        """The organization, the first page of text and its cursor. Writes the audit entry in the same transaction."""
        entry = self._enter()
        with tenant_tx(entry.project.organization.pk):
            filters = self.parameters.urlencode()[:LONGEST_FILTER]
            record_change(
                AuditAction.EXPORTED,
                organization_id=entry.project.organization.pk,
                by=self.user,
                subject=self.listed.name,
                project=entry.project,
                after={"filters": filters} if filters else {},
            )
            text, after = self._page(entry, None)
        return entry.project.organization.pk, MARK + csv_lines([[*self.listed.columns]]) + text, after

    def go_on(self, after: Any) -> tuple[str, Any]:
        """The page after a cursor. The membership is checked again: a member removed meanwhile gets no further page."""
        entry = self._enter()
        with report_tx(entry.project.organization.pk):
            return self._page(entry, after)

    def _enter(self) -> Entry:
        return enter_project(
            self.user, self.project_slug, verb=self.listed.scope, is_developer=self.listed.is_developer
        )

    def _page(self, entry: Entry, after: Any) -> tuple[str, Any]:
        # Programs read the file, so its words don't depend on who exported it.
        with override(settings.LANGUAGE_CODE):
            batch, zone = self.listed.read(entry, self.parameters, after), ZoneInfo(zone_of(entry))
            cells = [[cell_text(cell(row), zone=zone) for cell in self.listed.columns.values()] for row in batch.rows]
        return csv_lines(cells), batch.next


def csv_view(listed: CsvList[Any]) -> View:
    """The view of a list's CSV. All database work runs in the threads of `in_db`, which return their connection."""

    @require_safe
    async def export(request: HttpRequest, project_slug: str) -> HttpResponseBase:
        user = await in_db(signed_in_user, request)
        if user is None:
            return redirect_to_login(request.get_full_path())
        download = Download(listed, user, project_slug, request.GET)
        organization_id, text, after = await in_db(download.begin)
        return StreamingHttpResponse(
            _stream(download, organization_id, text, after),
            content_type="text/csv; charset=utf-8",
            headers={
                "Content-Disposition": f'attachment; filename="{_file_name(listed, project_slug)}"',
                "Cache-Control": "private, no-store",
                "X-Accel-Buffering": "no",
            },
        )

    return cast(View, export)


def page_by_id(rows: QuerySet[M], after: UUID | None) -> Batch[M]:
    """The rows after a row's id, newest first. Ids are ordered by time."""
    narrowed = rows.filter(pk__lt=after) if after else rows
    found = list(narrowed.order_by("-pk")[:PAGE])
    return Batch(found, next=found[-1].pk if len(found) == PAGE else None)


def cell_text(cell: Cell, *, zone: ZoneInfo) -> str:
    """A cell as text: times in ISO 8601 with the offset of the zone, and text that no spreadsheet runs as a formula."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, datetime):
        return cell.astimezone(zone).isoformat(timespec="seconds")
    if isinstance(cell, str):
        return f"{INERT}{cell}" if FORMULA.match(cell) else cell
    return str(cell)


def csv_lines(rows: Sequence[Sequence[str]]) -> str:
    """The rows as lines of RFC 4180."""
    buffer = io.StringIO(newline="")
    csv.writer(buffer).writerows(rows)
    return buffer.getvalue()


async def _stream(download: Download, organization_id: UUID, text: str, after: Any) -> AsyncIterator[bytes]:
    """The pages. An error ends the connection, so that a client doesn't take a part for the whole."""
    yield text.encode()
    while after is not None:
        with on_behalf_of(organization_id):
            text, after = await in_db(download.go_on, after)
        yield text.encode()


def _file_name(listed: CsvList[Any], project_slug: str) -> str:
    return f"{listed.name.replace(' ', '-')}-{project_slug}-{timezone.now():%Y-%m-%d}.csv"
