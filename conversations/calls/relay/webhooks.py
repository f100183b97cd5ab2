"""Twilio's webhooks of a call: it rings, its session ended, a dialed number answered or not. Nothing here uses the
network.

A webhook carries the account and the call. Its signature tells the project, and the stored call says what comes next.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import cast
from uuid import UUID

from conversations.calls.arrival import LANE, Arrival, ForeignWebhook, MalformedCall, Numbers, store_arrival
from conversations.calls.relay import twiml
from conversations.calls.relay.store import PROVIDER, finish_in
from conversations.calls.store import fallback_of, refusal_of
from conversations.common.queries import read_project
from conversations.common.translations import apology_for, language_of
from conversations.live.event_log import open_log
from conversations.models import OPEN_STATES, Call, CallState, Conversation
from conversations.voice.session import voice_of
from jobs.fence import prove
from jobs.holding import take_job
from jobs.models import State
from projects.common.crypto import WrongSecret
from projects.common.phones import InvalidPhone, read_phone
from projects.connections.integrations import open_source
from projects.connections.settings.twilio import TwilioSettings
from projects.connections.twilio import KIND, is_signed
from projects.models import Project
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import ProjectRef, find_source_projects

Form = Mapping[str, Sequence[str]]
CALL_SID = re.compile(r"CA[0-9a-fA-F]{32}")
ACCOUNT_SID = re.compile(r"AC[0-9a-fA-F]{32}")
# A worker looks after a call that Twilio hasn't connected by then.
PATIENCE = timedelta(seconds=20)
# A caller is connected again this often. Then the call goes to the fallback number, or ends.
MAX_GAPS = 3
TOO_MANY_GAPS = "The connection was lost too often."
# Numbers in place of a withheld one: the keys of ANONYMOUS, RESTRICTED, BLOCKED, UNKNOWN and UNAVAILABLE.
WITHHELD = frozenset({"+266696687", "+7378742883", "+2562533", "+8656696", "+86282452253"})
REACHED = frozenset({"completed", "answered"})


@dataclass(frozen=True)
class SignedRequest:
    """A request of Twilio, as its signature covers it."""

    url: str
    form: Form
    signature: str
    account_sid: str = ""

    def field(self, name: str) -> str:
        return next(iter(self.form.get(name, ())), "")[:200]


@dataclass(frozen=True)
class Account:
    """A project whose connection signed a request."""

    project_id: UUID
    settings: TwilioSettings


def answer_call(request: SignedRequest) -> str:
    """Store the call that rings, and say how it goes on. A repeated webhook finds the same call.

    Several projects may share an account, each with a number of its own. Raises ForeignWebhook, MalformedCall.
    """
    with _ringing_at(request) as account:
        if not CALL_SID.fullmatch(request.field("CallSid")):
            raise MalformedCall("The call's id is malformed.")
        project = read_project(account.project_id)
        numbers = _numbers(request, project)
        call, is_new = store_arrival(project, Arrival(PROVIDER, request.field("CallSid"), numbers, PATIENCE))
        if is_new and (reason := refusal_of(project, is_fallback_used=account.settings.outside_hours == "fallback")):
            return _turn_away(call, project, reason)
        return _next(call, account)


def go_on(request: SignedRequest) -> str:
    """The session of a call ended: transfer it, hang up, or connect it again. Raises ForeignWebhook, MalformedCall."""
    with _call_of(request) as (call, account):
        is_over = request.field("CallStatus") in ("completed", "canceled", "failed", "busy", "no-answer")
        if is_over:
            _end(call, CallState.ENDED)
            return twiml.hang_up()
        if call.state == CallState.LIVE and call.gaps >= MAX_GAPS:
            return _give_up(call)
        return _next(call, account)


def note_dialed(request: SignedRequest) -> str:
    """The call to the other number is over, or nobody took it. Raises ForeignWebhook, MalformedCall."""
    with _call_of(request) as (call, _):
        status = request.field("DialCallStatus")
        if call.state != CallState.TRANSFERRED or status in REACHED:
            return twiml.hang_up()
        reason = f"The transfer to {call.transferred_to} failed: {re.sub(r'[^a-z-]', '', status) or 'no answer'}."
        Call.objects.filter(pk=call.pk).update(state=CallState.FAILED, reason=reason)
        return _apologize(call)


@contextmanager
def _ringing_at(request: SignedRequest) -> Iterator[Account]:
    """The transaction of the project whose number is called."""
    accounts = _accounts(request)
    # A connection that names no number takes the calls that no other one takes.
    for number in (request.field("To"), ""):
        for ref, account in accounts:
            if account.settings.called_number == number:
                with tenant_tx(ref.organization_id):
                    yield account
                return
    raise MalformedCall("The call was made to a number that no project has connected.")


@contextmanager
def _call_of(request: SignedRequest) -> Iterator[tuple[Call, Account]]:
    """The transaction of a stored call, which is locked with its conversation."""
    for ref, account in _accounts(request):
        with tenant_tx(ref.organization_id):
            rows = Call.objects.select_related("conversation", "project")
            call = rows.filter(
                project_id=ref.project_id, provider=PROVIDER, external_id=request.field("CallSid")
            ).first()
            if call is not None:
                yield call, account
                return
    raise MalformedCall("There is no such call.")


def _accounts(request: SignedRequest) -> list[tuple[ProjectRef, Account]]:
    """The projects whose connection signed the request. Raises ForeignWebhook if there is none."""
    if found := signed_accounts(request):
        return found
    raise ForeignWebhook(ForeignWebhook.__doc__)


def signed_accounts(request: SignedRequest) -> list[tuple[ProjectRef, Account]]:
    """The projects whose connection signed the request."""
    sid = request.account_sid or request.field("AccountSid")
    found = []
    for ref in find_source_projects(KIND, account_sid=sid) if ACCOUNT_SID.fullmatch(sid) else []:
        with tenant_tx(ref.organization_id):
            if (account := _opened(ref, request)) is not None:
                found.append((ref, account))
    return found


def _opened(ref: ProjectRef, request: SignedRequest) -> Account | None:
    """The project's connection, if it exists and signed the request."""
    try:
        connection = open_source(ref.project_id, KIND)
    except WrongSecret:
        return None
    if connection is None or not is_signed(request.signature, request.url, request.form, token=connection.secret):
        return None
    return Account(ref.project_id, cast(TwilioSettings, connection.settings))


def _next(call: Call, account: Account) -> str:
    """The instructions that follow from the call's row."""
    if call.state == CallState.TRANSFERRED and call.transferred_to:
        return twiml.dial(call.transferred_to)
    if call.state == CallState.REJECTED:
        return twiml.reject()
    if call.state not in OPEN_STATES:
        return twiml.hang_up()
    socket = twiml.socket_address(account.settings.account_sid, call.pk)
    voice = voice_of(call.conversation)
    language = voice.language or language_of(call.conversation.persona_id, project_id=call.project_id)
    return twiml.connect(socket, language=language, voice=account.settings.voice)


def _turn_away(call: Call, project: Project, reason: str) -> str:
    number = fallback_of(project, voice_of(call.conversation))
    if not number:
        _end(call, CallState.REJECTED, reason=reason)
        return twiml.reject()
    _end(call, CallState.TRANSFERRED, reason=reason, number=number)
    return twiml.dial(number)


def _give_up(call: Call) -> str:
    number = fallback_of(call.project, voice_of(call.conversation))
    if number:
        _end(call, CallState.TRANSFERRED, reason=TOO_MANY_GAPS, number=number)
        return twiml.dial(number)
    _end(call, CallState.FAILED, reason=TOO_MANY_GAPS)
    return _apologize(call)


def _apologize(call: Call) -> str:
    conversation = Conversation.objects.get(pk=call.conversation_id)
    language = language_of(conversation.persona_id, project_id=call.project_id)
    return twiml.say_and_hang_up(apology_for(conversation), language=language)


def _end(call: Call, state: CallState, *, reason: str = "", number: str = "") -> None:
    """End the call, in whichever process it runs. A call that is over stays as it is."""
    with open_log(call.conversation_id) as log:
        job = take_job(LANE, call.conversation_id)
        if job is None:
            return
        prove(job, finish=State.DONE)
        finish_in(log, call.pk, state, reason=reason, number=number)


def _numbers(request: SignedRequest, project: Project) -> Numbers:
    config = project.agent_version.config if project.agent_version else None
    region = config.region if config else "US"
    # STIR/SHAKEN: the network says that the number isn't the caller's own.
    is_contradicted = request.field("StirVerstat").startswith("TN-Validation-Failed")
    given = request.field("From")
    caller = "" if is_contradicted or given in WITHHELD else _number(given, region)
    return Numbers(caller, _number(request.field("To"), region))


def _number(text: str, region: str) -> str:
    try:
        return read_phone(text, region=region)
    except InvalidPhone:
        return ""
