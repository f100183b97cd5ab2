"""The page of canned replies and tags."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.http import require_http_methods
from rest_framework.exceptions import ErrorDetail
from rest_framework.serializers import BaseSerializer

from console.access import enter
from console.layout import shell_context
from console.parameters import parse_uuid
from console.restorations import snapshot_of
from console.undo import announce_undoable
from conversations.api.canned_replies import CannedReplyInput
from conversations.api.tags import TagInput
from conversations.inbox.canned_replies import FIELDS, canned_replies, change_reply, delete_reply, make_reply
from conversations.inbox.tags import MAX_RESTORED, change_tag, delete_tag, make_tag, uses_of
from conversations.models import CannedReply, Tag, TagColor
from projects.common.api_error import ApiError
from projects.common.translation import lazy
from projects.models.key import Scope
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx

LABELS = {"name": lazy("Name"), "content": lazy("Text"), "color": lazy("Color")}
NEW = "new"


@dataclass(frozen=True)
class Row:
    """A form of the page: a reply, a tag, or a new one of either. `errors` are by field."""

    id: str
    values: Mapping[str, str]
    errors: Mapping[str, str] = field(default_factory=dict)
    uses: int = 0

    @property
    def is_restorable(self) -> bool:
        """True for a tag whose deletion can be undone."""
        return self.uses <= MAX_RESTORED


class Refused(Exception):
    """An invalid form. Holds the row to show again."""

    def __init__(self, row: Row) -> None:
        super().__init__()
        self.row = row


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def replies(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Both lists. POST changes one row, or shows what is wrong with it."""
    entry = enter(request, project_slug, verb=Scope.OPERATE)
    refused: Row | None = None
    if request.method == "POST":
        try:
            with tenant_tx(entry.project.organization.pk):
                _act(request, entry)
            return redirect("canned_replies", project_slug=project_slug)
        except Refused as error:
            refused = error.row
    with tenant_tx(entry.project.organization.pk):
        shown = _shown(entry, refused, is_tag=request.POST.get("do") == "save-tag")
    context = {**shell_context(request, entry), **shown}
    return render(request, "inbox/replies.html", context, status=422 if refused else 200)


def _act(request: HttpRequest, entry: Entry) -> None:
    action = ACTIONS.get(request.POST.get("do", ""))
    if action is None:
        raise Http404
    action(request, entry, request.POST)


def _save_reply(request: HttpRequest, entry: Entry, form: QueryDict) -> None:
    values = _values(form, "name", "content")
    reply = _find_reply(entry, form) if form.get("id") != NEW else None
    clean = _clean(CannedReplyInput, form, values)
    _guard(form, values, lambda: change_reply(reply, clean) if reply else make_reply(entry.project, **clean))
    messages.success(request, gettext("Canned reply saved.") if reply else gettext("Canned reply created."))


def _delete_reply(request: HttpRequest, entry: Entry, form: QueryDict) -> None:
    reply = _find_reply(entry, form)
    delete_reply(reply)
    announce_undoable(request, entry, gettext("Canned reply deleted."), kind="canned_reply", reply=str(reply.pk))


def _save_tag(request: HttpRequest, entry: Entry, form: QueryDict) -> None:
    values = _values(form, "name", "color")
    tag = _find_tag(entry, form) if form.get("id") != NEW else None
    clean = _clean(TagInput, form, values)
    _guard(form, values, lambda: change_tag(tag, clean) if tag else make_tag(entry.project, **clean))
    messages.success(request, gettext("Tag saved.") if tag else gettext("Tag created."))


def _delete_tag(request: HttpRequest, entry: Entry, form: QueryDict) -> None:
    tag = _find_tag(entry, form)
    row, uses = snapshot_of(tag), uses_of(tag)
    delete_tag(tag)
    if uses is None:
        messages.success(request, gettext("Tag deleted."))
        return
    kept = json.dumps({"tag": row, "conversations": [str(one) for one in uses]})
    announce_undoable(request, entry, gettext("Tag deleted."), kind="tag", kept=kept)


ACTIONS: Mapping[str, Callable[[HttpRequest, Entry, QueryDict], None]] = {
    "save-reply": _save_reply,
    "delete-reply": _delete_reply,
    "save-tag": _save_tag,
    "delete-tag": _delete_tag,
}


def _values(form: QueryDict, *names: str) -> dict[str, str]:
    """The posted texts, with normalized line endings."""
    return {name: form.get(name, "").replace("\x00", "").replace("\r\n", "\n").strip() for name in names}


def _clean(serializer: type[BaseSerializer[Any]], form: QueryDict, values: Mapping[str, str]) -> dict[str, str]:
    """The values as the API's serializer reads them. Raises Refused."""
    read = serializer(data=dict(values))
    if read.is_valid():
        return dict(read.validated_data)
    found = cast(Mapping[str, Sequence[ErrorDetail]], read.errors)
    errors = {name: _sentence(LABELS[name], details[0]) for name, details in found.items()}
    raise Refused(Row(form.get("id", NEW), values, errors))


def _sentence(label: str, error: ErrorDetail) -> str:
    if error.code in ("blank", "empty"):
        return gettext("%(field)s is required.") % {"field": label}
    return f"{label} {error}"


def _guard(form: QueryDict, values: Mapping[str, str], save: Callable[[], object]) -> None:
    """Save. A refusal of the service becomes an error at its field. Raises Refused."""
    try:
        save()
    except ApiError as error:
        raise Refused(Row(form.get("id", NEW), values, {error.field or "name": error.message})) from error


def _find_reply(entry: Entry, form: QueryDict) -> CannedReply:
    found = canned_replies(entry.project).select_for_update().filter(pk=_id(form)).first()
    if found is None:
        raise Http404
    return found


def _find_tag(entry: Entry, form: QueryDict) -> Tag:
    found = Tag.objects.select_for_update().filter(project=entry.project, pk=_id(form)).first()
    if found is None:
        raise Http404
    return found


def _id(form: QueryDict) -> UUID:
    found = parse_uuid(form.get("id", ""))
    if found is None:
        raise Http404
    return found


def _shown(entry: Entry, refused: Row | None, *, is_tag: bool) -> dict[str, Any]:
    tags = Tag.objects.filter(project=entry.project).annotate(count=Count("uses"))
    replies = canned_replies(entry.project)
    reply_rows = [Row(str(one.pk), {"name": one.name, "content": one.content}) for one in replies]
    tag_rows = [Row(str(one.pk), {"name": one.name, "color": one.color}, uses=vars(one)["count"]) for one in tags]
    blank = Row(NEW, {"color": TagColor.GRAY.value})
    return {
        "replies": _with_refused(reply_rows, None if is_tag else refused),
        "tags": _with_refused(tag_rows, refused if is_tag else None),
        "new_reply": refused if refused and refused.id == NEW and not is_tag else blank,
        "new_tag": refused if refused and refused.id == NEW and is_tag else blank,
        "fields": FIELDS.items(),
        "colors": TagColor.choices,
    }


def _with_refused(rows: list[Row], refused: Row | None) -> list[Row]:
    return [refused if refused and refused.id == row.id else row for row in rows]
