"""The integrations page: connections for messages and look-ups, event subscriptions, and the outbox of unsent messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast, get_args

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from console.access import zone_of
from console.agent.form_fields import FormField
from console.agent.nested_form_data import Node, part_of, read_entries, text_of
from console.agent.page import page_context, tab_url
from console.integrations.event_section import EventTrial, RefusedSubscription, event_section
from console.people.one_time_secrets import take_once
from console.timestamps import Timestamp, format_timestamp
from conversations.api.messengers import state_of
from conversations.channels.registry import PROVIDERS
from conversations.models import ChannelLink
from projects.agents.concurrent_edits import SEEN, SavedMeanwhile, as_text, read_seen
from projects.common.stored_sentences import translated
from projects.connections.integration_types import KINDS, SourceKind
from projects.connections.integrations import (
    SECRET,
    SourceEdit,
    connect_source,
    disconnect_source,
    find_source,
    loaded_state,
    secret_hint,
)
from projects.models import Project, Source, User
from projects.models.agent_errors import SettingsRefused
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.models import Effect
from tools.services.calendar.availability import KIND as CALENDAR
from tools.services.calendar.connecting import calendar_connected
from tools.services.calendar.event_sync import failed_syncs
from tools.services.messaging.outbox import NAME as OUTBOX
from tools.services.messaging.send_test import CheckResult, check_connection

TAB = "integrations"
EVENT_SECRET = "event_subscription"  # noqa: S105 - the name under which a secret is kept for one page
SHOWN = 5


@dataclass(frozen=True)
class Field:
    """One setting of an integration."""

    box: FormField
    title: str
    hint: str
    placeholder: str
    choices: tuple[tuple[str, str], ...]
    is_number: bool


@dataclass(frozen=True)
class Card:
    """One integration: connection state, saved settings, form."""

    kind: SourceKind
    source: Source | None
    secret: str
    fields: list[Field]
    secret_box: FormField
    problems: list[str]
    is_open: bool
    seen: str
    conflict: SavedMeanwhile | None = None
    missing: int = 0

    @property
    def state(self) -> str:
        if self.source is None:
            return "off"
        return "attention" if self.source.needs_reauth else "connected"

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The saved settings as (title, value), without unsaved input."""
        saved = {
            f"settings.{name}": str(value) for name, value in (self.source.settings if self.source else {}).items()
        }
        values = [(one, saved.get(one.box.name, "")) for one in self.fields]
        fields = [(one.title, dict(one.choices).get(value, value)) for one, value in values]
        secret = [(self.kind.credential, self.secret)] if self.secret else []
        return [fact for fact in (*fields, *secret) if fact[1]]


@dataclass(frozen=True)
class OutboxMessage:
    """A message in the outbox."""

    tool: str
    at: Timestamp
    to: str
    subject: str
    words: str


@dataclass(frozen=True)
class Typed:
    """A refused submission: values with errors, or with a conflicting save.

    `seen` is the state the form was loaded with; empty for a fresh form.
    """

    kind: SourceKind
    settings: Mapping[str, Any]
    errors: Mapping[str, str]
    seen: str = ""
    conflict: SavedMeanwhile | None = None


@never_cache
@login_required
@require_http_methods(["GET", "POST"])
def integrations_page(request: HttpRequest, project_slug: str, section: str) -> HttpResponse:
    """List the integrations; POST connects or changes one."""
    is_saved = request.method == "POST"
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.CONFIGURE if is_saved else Scope.READ)
    return _connect(request, entry) if is_saved else show_page(request, entry)


@login_required
@require_POST
def disconnect(request: HttpRequest, project_slug: str, kind: str) -> HttpResponse:
    """Disconnect an integration; its messages go to the outbox from then on."""
    entry = enter_project(cast(User, request.user), project_slug, verb=Scope.CONFIGURE)
    known = _kind(kind)
    seen = read_seen(request.POST[SEEN]) if SEEN in request.POST else None
    try:
        with tenant_tx(entry.project.organization.pk):
            if not disconnect_source(entry.project, known, by=cast(User, request.user), seen=seen):
                raise Http404
    except SavedMeanwhile as conflict:
        return show_page(request, entry, typed=Typed(known, conflict.values, {}, conflict=conflict))
    messages.success(request, gettext("%(service)s disconnected.") % {"service": known.title})
    return redirect(tab_url(project_slug, TAB))


@login_required
async def test(request: HttpRequest, project_slug: str, kind: str) -> HttpResponseBase:
    """Test a connection and report the result. No transaction is open during the test."""
    user = cast(User, await request.auser())
    entry = await in_db(enter_project, user, project_slug, verb=Scope.CONFIGURE)
    known = _kind(kind)
    if request.method != "POST":
        return redirect(tab_url(project_slug, TAB))
    trial = await check_connection(entry.project, known, to=text_of(read_entries(request.POST), "to"))
    if request.headers.get("Accept") == "application/json":
        return JsonResponse({"ok": trial.is_ok, "sentence": translated(trial.sentence)})
    return await in_db(show_page, request, entry, trial=(known, trial))


def _kind(name: str) -> SourceKind:
    # Messengers have pages of their own, because the provider is told our webhook.
    if name not in KINDS or KINDS[name].has_page:
        raise Http404
    return KINDS[name]


def _connect(request: HttpRequest, entry: Entry) -> HttpResponse:
    entries = read_entries(request.POST)
    kind, typed = _kind(text_of(entries, "kind")), part_of(entries, "settings")
    try:
        with tenant_tx(entry.project.organization.pk):
            edit = SourceEdit(_settings(kind, typed), text_of(entries, SECRET))
            seen = read_seen(text_of(entries, SEEN))
            connect_source(entry.project, kind, edit, by=cast(User, request.user), seen=seen)
            if kind.name == CALENDAR:
                calendar_connected(entry.project)
    except SettingsRefused as refusal:
        return show_page(request, entry, typed=Typed(kind, typed, refusal.errors, seen=text_of(entries, SEEN)))
    except SavedMeanwhile as conflict:
        return show_page(request, entry, typed=Typed(kind, conflict.values, {}, conflict=conflict))
    messages.success(request, gettext("%(title)s connected. Test it to make sure it works.") % {"title": kind.title})
    return redirect(tab_url(entry.project.slug, TAB))


def _settings(kind: SourceKind, typed: Node) -> dict[str, str]:
    """The submitted settings; empty fields fall back to their defaults."""
    return {name: text for name in kind.settings.model_fields if (text := text_of(typed, name))}


def show_page(
    request: HttpRequest,
    entry: Entry,
    *,
    typed: Typed | None = None,
    trial: tuple[SourceKind, CheckResult] | None = None,
    refused: RefusedSubscription | None = None,
    event_trial: EventTrial | None = None,
) -> HttpResponse:
    """Render the page, with a refused form or the result of a test."""
    context = page_context(request, entry, tab=TAB)
    with tenant_tx(entry.project.organization.pk):
        context["cards"] = [
            _card(entry.project, kind, typed if typed and typed.kind is kind else None)
            for kind in KINDS.values()
            if not kind.has_page
        ]
        links = {link.kind: link for link in ChannelLink.objects.filter(project=entry.project)}
        context["messengers"] = [
            (KINDS[name], state_of(find_source(entry.project.pk, name), links.get(name))) for name in PROVIDERS
        ]
        context["events"] = event_section(entry.project, zone=zone_of(entry), refused=refused, trial=event_trial)
        context["outbox"] = [
            _outbox_message(effect, zone=zone_of(entry)) for effect in _in_outbox(entry.project)[:SHOWN]
        ]
    context["event_secret"] = take_once(request, EVENT_SECRET, organization_id=entry.project.organization.pk)
    context["tried"], context["trial"] = trial or (None, None)
    status = refused.status if refused else _status(typed)
    return render(request, "integrations/integrations.html", context, status=status)


def _status(typed: Typed | None) -> int:
    if typed is None:
        return 200
    return 409 if typed.conflict else 422


def _in_outbox(project: Project) -> QuerySet[Effect]:
    return Effect.objects.filter(project_id=project.pk, adapter=OUTBOX).order_by("-created_at")


def _outbox_message(effect: Effect, *, zone: str) -> OutboxMessage:
    message = (effect.result or {}).get("message") or {}
    return OutboxMessage(
        tool=effect.tool,
        at=format_timestamp(effect.created_at, zone=zone),
        to=message.get("to", ""),
        subject=message.get("subject", ""),
        words=message.get("text") or message.get("body", ""),
    )


def _card(project: Project, kind: SourceKind, typed: Typed | None) -> Card:
    source = find_source(project.pk, kind.name)
    errors = dict(typed.errors) if typed else {}
    values: Mapping[str, Any] = typed.settings if typed else source.settings if source else {}
    fields = [form_field(kind, name, values, errors.pop(name, "")) for name in kind.settings.model_fields]
    return Card(
        kind=kind,
        source=source,
        secret=secret_hint(source) if source else "",
        fields=fields,
        secret_box=FormField(f"{kind.name}.{SECRET}", "", errors.pop(SECRET, "")),
        problems=list(errors.values()),
        missing=failed_syncs(project).count() if source and kind.name == CALENDAR else 0,
        seen=typed.seen if typed and typed.errors else as_text(loaded_state(source)),
        conflict=typed.conflict if typed else None,
        is_open=typed is not None or bool(source and source.needs_reauth),
    )


def form_field(kind: SourceKind, name: str, values: Mapping[str, Any], error: str) -> Field:
    """The form's field of one setting."""
    about = kind.settings.model_fields[name]
    value = values.get(name, "" if about.is_required() else about.default)
    labels = about.json_schema_extra if isinstance(about.json_schema_extra, dict) else {}
    choices = tuple((choice, gettext(str(labels.get(choice, choice)))) for choice in get_args(about.annotation))
    return Field(
        box=FormField(f"settings.{name}", "" if value is None else str(value), error),
        title=gettext(about.title) if about.title else name,
        hint=gettext(about.description) if about.description else "",
        placeholder=str(about.examples[0]) if about.examples else "",
        choices=choices,
        is_number=about.annotation is int,
    )
