"""Views of the simulated phone. They exist only where the offline providers run."""

from __future__ import annotations

from typing import cast
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.cache import never_cache

from console.layout import shell_context
from console.simulated_phone.phones import Phone, PhoneState, customer_of, file_of, open_line, open_phones, words_of
from conversations.channels.linking import OpenChannel, link_channel
from conversations.channels.simulated import (
    CUSTOMERS,
    KINDS,
    ProviderAway,
    connect_simulated,
    is_available,
    read_file,
    use_phone,
)
from conversations.handover.file_types import detect_type
from conversations.handover.media_types import detect_media
from projects.models import User
from projects.models.key import Scope
from projects.models.permissions import Entry, enter_project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db


@never_cache
@login_required
async def simulated_phone(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Show the three chats. With `part`, only what changes; `seen` lists the chats that the customer looks at."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET"])
    entry = await _enter(request, project_slug, verb=Scope.READ)
    _, customer = customer_of(request.GET)
    seen = request.GET.get("seen", ",".join(KINDS)).split(",")
    phones = await open_phones(entry, customer, seen=seen)
    return await in_db(_show, request, entry, phones)


@login_required
async def connect(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Connect every channel without a connection to its offline provider."""
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    entry = await _enter(request, project_slug, verb=Scope.CONFIGURE)
    for channel in await in_db(_connect, entry):
        await link_channel(channel)
    return redirect("simulated_phone", project_slug=project_slug)


@login_required
async def act(request: HttpRequest, project_slug: str) -> HttpResponse:
    """Let the customer write `text` or send a `file`, press the button `choice` of a `message`, or switch the phone with `reachable`.

    409 for a connection that isn't simulated.
    """
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    entry = await _enter(request, project_slug, verb=Scope.CONVERSE)
    number, customer = customer_of(request.POST)
    kind, text = request.POST.get("kind", ""), words_of(request.POST)
    found = await in_db(open_line, entry, kind, customer) if kind in KINDS else None
    if found is None:
        return HttpResponse(gettext("This channel isn’t simulated."), status=409, content_type="text/plain")
    problem = ""
    try:
        if "reachable" in request.POST:
            await use_phone(found[1], "reach", reachable=request.POST["reachable"] == "1")
        elif choice := request.POST.get("choice", ""):
            screen = await use_phone(found[1], "press", message=request.POST.get("message", ""), choice=choice)
            problem = _problem(screen.status)
        elif (file := file_of(request)) or text:
            screen = await use_phone(found[1], "write", text=text, file=file)
            problem = _problem(screen.status)
    except ValueError:
        problem = gettext("The file is too large. Choose one of at most 16 MB.")
    except ProviderAway:
        problem = gettext("The offline provider doesn’t answer. Start the server again with bin/serve.")
    if problem:
        messages.error(request, problem)
    part = {name: request.POST[name] for name in ("part", "seen") if name in request.POST}
    return redirect(f"{reverse('simulated_phone', args=[project_slug])}?{urlencode({'customer': number, **part})}")


@login_required
async def sent_file(request: HttpRequest, project_slug: str, file_id: UUID) -> HttpResponse:
    """A file of a chat. Pictures, audio and videos are shown, everything else is downloaded."""
    if request.method not in ("GET", "HEAD"):
        return HttpResponseNotAllowed(["GET"])
    await _enter(request, project_slug, verb=Scope.READ)
    try:
        content = await read_file(str(file_id))
    except ProviderAway:
        content = None
    if content is None:
        raise Http404
    shown = detect_media(content) or detect_type(content) or "application/octet-stream"
    is_shown = shown.startswith(("image/", "audio/", "video/"))
    headers = {
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Content-Disposition": "inline" if is_shown else "attachment",
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(content, content_type=shown if is_shown else "application/octet-stream", headers=headers)


async def _enter(request: HttpRequest, project_slug: str, *, verb: Scope) -> Entry:
    user = cast(User, await request.auser())
    entry = await in_db(enter_project, user, project_slug, verb=verb)
    if not is_available():
        raise Http404
    return entry


def _connect(entry: Entry) -> list[OpenChannel]:
    with tenant_tx(entry.project.organization.pk):
        return connect_simulated(entry.project, by=entry.member.user)


def _problem(status: int) -> str:
    if status == 200:
        return ""
    if not status:
        return gettext("The webhook didn’t answer. Check MAKEGOOD_BASE_URL.")
    return gettext("The webhook answered with %(status)s, so the message didn’t arrive.") % {"status": status}


def _show(request: HttpRequest, entry: Entry, phones: list[Phone]) -> HttpResponse:
    number, customer = customer_of(request.GET)
    context = {
        **shell_context(request, entry),
        "phones": phones,
        "customer": customer,
        "number": number,
        "customers": list(enumerate(CUSTOMERS, start=1)),
        "can_connect": any(phone.state is PhoneState.NOT_CONNECTED for phone in phones),
    }
    page = "_phones.html" if "part" in request.GET else "page.html"
    return render(request, f"simulated_phone/{page}", context)
