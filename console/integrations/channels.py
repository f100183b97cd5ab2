"""Pages of messengers: what to enter where, a live check, a test message, and what was delivered last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseNotAllowed
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache

from console.access import zone_of
from console.agent.form_fields import FormField
from console.agent.page import page_context
from console.integrations.views import TAB, Field, form_field
from console.timestamps import Timestamp, format_timestamp
from conversations.api.messengers import carrier_problem, state_of
from conversations.channels.email import KIND as EMAIL
from conversations.channels.incoming import recent_deliveries
from conversations.channels.linking import (
    OpenChannel,
    connect_channel,
    disconnect_channel,
    inspect_carrier,
    inspect_channel,
    link_channel,
    open_channel,
    open_untold,
    send_test,
    unlink_channel,
)
from conversations.channels.provider import LinkResult
from conversations.channels.registry import PROVIDERS
from conversations.channels.whatsapp import KIND as WHATSAPP
from conversations.channels.whatsapp import verify_token
from conversations.models import ChannelLink, Delivery
from projects.common.stored_sentences import translated
from projects.common.translation import lazy
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SECRET, find_source
from projects.models import User
from projects.models.agent_errors import SettingsRefused
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db

# The secrets of each kind, with their labels. Twilio's are entered in its card, since calls and tools use them too.
SECRETS: Mapping[str, Sequence[tuple[str, str]]] = {
    "telegram": (("bot_token", lazy("Bot token")),),
    "email": (("password", lazy("Password or signing key")),),
    "whatsapp": (("access_token", lazy("Access token")), ("app_secret", lazy("App secret"))),
}
STEPS: Mapping[str, Sequence[str]] = {
    "telegram": (
        lazy("In Telegram, write /newbot to @BotFather and answer its two questions."),
        lazy("Enter the token that it replies with, and connect. Telegram is told our webhook at once."),
        lazy("Write to your bot. The agent answers."),
    ),
    "whatsapp": (
        lazy(
            "In Meta’s app dashboard, copy the phone number ID, a permanent access token and the app secret, and connect."
        ),
        lazy(
            "Under WhatsApp → Configuration, enter the webhook and the verify token below, and subscribe to “messages”."
        ),
        lazy("Write to your number. The agent answers."),
    ),
    "email": (
        lazy("Connect your mail server under Integrations, E-mail (SMTP). Answers go out by it."),
        lazy(
            "Postmark: choose a long password, and connect. In the settings of the inbound stream, enter the webhook "
            "below, with your password in place of PASSWORD."
        ),
        lazy(
            "Mailgun: enter the HTTP webhook signing key, and connect. Add a route that forwards your address to the "
            "webhook below."
        ),
        lazy("IMAP: enter the mailbox’s server, user and password, and connect. There is nothing to paste."),
        lazy("Write to your address. The agent answers."),
    ),
    "twilio": (
        lazy("Connect the account under Integrations."),
        lazy("In Twilio’s console, at your number, enter the webhook below under “A message comes in”, with POST."),
        lazy("Text your number. The agent answers."),
    ),
}


LONGEST_WHOLE = 20_000


@dataclass(frozen=True)
class Outcome:
    """The result of a check, a test or a change, in a sentence."""

    is_ok: bool
    sentence: str


@dataclass(frozen=True)
class ShownDelivery:
    """A delivery as the page lists it."""

    at: Timestamp
    result: str
    tone: str
    detail: str
    excerpt: str
    whole: str
    conversation: Any


TONES = {"answered": "ok", "keyword": "ok", "receipt": "ok", "stored": "warn", "refused": "bad"}


@never_cache
@login_required
async def channel_page(request: HttpRequest, project_slug: str, *, kind: str) -> HttpResponseBase:
    """Show the page; POST connects the messenger, and its provider is told our webhook.

    A page of an administrator also tells a provider that wasn't told yet, because the process that connected it died.
    """
    entry = await _enter(request, project_slug, is_read=request.method in ("GET", "HEAD"))
    if request.method in ("GET", "HEAD"):
        if (untold := await in_db(_open_untold, entry, kind)) is not None:
            await link_channel(untold)
        return await in_db(_show, request, entry, kind)
    if request.method != "POST" or kind not in SECRETS:
        return HttpResponseNotAllowed(["GET"])
    try:
        channel = await in_db(_connect, request, entry, kind)
    except SettingsRefused as refusal:
        return await in_db(_show, request, entry, kind, errors=refusal.errors)
    return await in_db(_show, request, entry, kind, outcome=_said(await _linked(channel), kind))


@login_required
async def channel_action(request: HttpRequest, project_slug: str, *, kind: str, action: str) -> HttpResponseBase:
    """Check the connection live, send a test to the newest chat, or disconnect."""
    entry = await _enter(request, project_slug, is_read=False)
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    if action == "end":
        return await _disconnect(request, entry, kind)
    channel = await in_db(_open, entry, kind)
    if channel is None:
        outcome = Outcome(False, gettext("Nothing is connected. Connect it first."))
    elif action == "check":
        outcome = _said(await inspect_channel(channel), kind)
    else:
        text = gettext("This is a test of %(project)s, sent by Makegood.") % {"project": entry.project.name}
        problem = await send_test(channel, text)
        outcome = Outcome(not problem, problem or gettext("Sent to the newest chat. Check that it arrives."))
    return await in_db(_show, request, entry, kind, outcome=outcome)


async def _enter(request: HttpRequest, project_slug: str, *, is_read: bool) -> Entry:
    user = cast(User, await request.auser())
    return await in_db(enter_project, user, project_slug, verb=Scope.READ if is_read else Scope.CONFIGURE)


async def _disconnect(request: HttpRequest, entry: Entry, kind: str) -> HttpResponseBase:
    channel = await in_db(_delete, request, entry, kind)
    if channel is not None:
        await unlink_channel(channel)
    return await in_db(_show, request, entry, kind, outcome=Outcome(True, gettext("Disconnected.")))


def _delete(request: HttpRequest, entry: Entry, kind: str) -> OpenChannel | None:
    with tenant_tx(entry.project.organization.pk):
        return disconnect_channel(entry.project, kind, by=cast(User, request.user))


def _open(entry: Entry, kind: str) -> OpenChannel | None:
    with tenant_tx(entry.project.organization.pk):
        return open_channel(entry.project, kind)


def _open_untold(entry: Entry, kind: str) -> OpenChannel | None:
    with tenant_tx(entry.project.organization.pk):
        return open_untold(entry.project, kind) if entry.may(Scope.CONFIGURE) else None


def _connect(request: HttpRequest, entry: Entry, kind: str) -> OpenChannel:
    """Raises SettingsRefused."""
    names = KINDS[kind].settings.model_fields
    settings = {name: text for name in names if (text := request.POST.get(f"settings.{name}", "").strip())}
    given = {name: text for name, _ in SECRETS[kind] if (text := request.POST.get(name, "").strip())}
    try:
        secret = PROVIDERS[kind].read_secret(given) if given else ""
    except ValueError:
        raise SettingsRefused({SECRET: gettext("Enter every secret as the provider shows it.")}) from None
    with tenant_tx(entry.project.organization.pk):
        return connect_channel(entry.project, kind, settings, secret, by=cast(User, request.user))


async def _linked(channel: OpenChannel) -> LinkResult:
    """The provider's word, then that of the server that messages go out by."""
    result = await link_channel(channel)
    return result if result.problem else replace(result, problem=await inspect_carrier(channel))


def _said(result: LinkResult, kind: str) -> Outcome:
    if result.problem:
        return Outcome(False, result.problem)
    if kind == EMAIL:
        return Outcome(True, gettext("The mail server accepts the sign-in, so answers can be sent."))
    if kind == "telegram":
        return Outcome(True, gettext("Telegram says: webhook set, %(pending)s pending.") % {"pending": result.pending})
    return Outcome(True, gettext("The provider accepts the credentials."))


def _show(
    request: HttpRequest,
    entry: Entry,
    kind: str,
    *,
    errors: Mapping[str, str] | None = None,
    outcome: Outcome | None = None,
) -> HttpResponse:
    context = page_context(request, entry, tab=TAB)
    with tenant_tx(entry.project.organization.pk):
        context |= _channel_context(request, entry, kind, dict(errors or {}))
    context |= {"kind": KINDS[kind], "id": kind, "steps": STEPS[kind], "outcome": outcome}
    return render(request, "integrations/channel.html", context, status=422 if errors else 200)


def _channel_context(request: HttpRequest, entry: Entry, kind: str, errors: dict[str, str]) -> dict[str, Any]:
    source, channel = find_source(entry.project.pk, kind), open_channel(entry.project, kind)
    link = ChannelLink.objects.filter(project=entry.project, kind=kind).first()
    values: Mapping[str, Any] = source.settings if source else {}
    if errors:
        values = {name: request.POST.get(f"settings.{name}", "") for name in KINDS[kind].settings.model_fields}
    names = KINDS[kind].settings.model_fields if kind in SECRETS else ()
    fields: list[Field] = [form_field(KINDS[kind], name, values, errors.pop(name, "")) for name in names]
    secret_error = errors.pop(SECRET, "")
    return {
        "fields": fields,
        "secrets": [
            (label, FormField(name, "", secret_error if not number else ""))
            for number, (name, label) in enumerate(SECRETS.get(kind, ()))
        ],
        "problems": list(errors.values()),
        "state": state_of(source, link),
        "link": link,
        "webhook": channel.webhook if channel else "",
        "is_connected": channel is not None,
        "carrier_problem": carrier_problem(channel),
        "verify_token": verify_token(channel.connection) if channel and kind == WHATSAPP else "",
        "deliveries": [_shown(one, zone=zone_of(entry)) for one in recent_deliveries(entry.project, kind)],
    }


def _shown(row: Delivery, *, zone: str) -> ShownDelivery:
    return ShownDelivery(
        at=format_timestamp(row.received_at, zone=zone),
        result=row.get_result_display(),
        tone=TONES.get(row.result, "mute"),
        detail=translated(row.detail),
        excerpt=row.message.content[:200] if row.message else "",
        whole=_whole(row) if row.kind == EMAIL else "",
        conversation=row.conversation_id,
    )


def _whole(row: Delivery) -> str:
    """An e-mail with what it quotes; empty if the message has all of it."""
    text = str(row.body.get("text", "")).strip()
    return "" if row.message and text in row.message.content else text[:LONGEST_WHOLE]
