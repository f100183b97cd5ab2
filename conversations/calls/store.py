"""The rows of a call, read and written by its keeper. Every write proves that the worker still holds the job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models.functions import Now
from django.utils import timezone

from conversations.calls.account import TYPED, account_of
from conversations.calls.gap_notice import add_words_missing
from conversations.calls.transcript import SPEECH
from conversations.calls.voice_usage import cost_of
from conversations.common.business_hours import working_status
from conversations.live.event_log import job_log, open_log
from conversations.models import OPEN_STATES, Call, CallState, Channel, Event
from conversations.turns.flags import CALL_CUT_OFF, flag_cut_off
from conversations.voice.deduplication import CALLED
from conversations.voice.reports import REPORTED, Report, ReportType, process_reports
from conversations.voice.session import LiveSession, build_session
from conversations.voice.updates import cursor_for
from jobs.fence import job_tx, prove, reading
from jobs.lanes import ClaimedJob
from jobs.models import State
from llm.realtime import RealtimeCalls
from projects.agents.voice_settings import VoiceSettings
from projects.common.phones import InvalidPhone, read_phone
from projects.models import Project
from tenancy.scope import tenant_tx
from tools.engine.function_calling.contexts import BrowserVoiceContext, Context, PhoneContext
from tools.engine.function_calling.offer import collect_agent_tools
from tools.engine.limits.model_budget import find_spent_budget, is_checked

NOT_CONNECTED = "The connection to the provider was removed."
NO_AGENT = "The agent has no published settings."
CLOSED = "The business is closed."
GAP = "call_gap"
OUTPUT = "output:"
# The speaker of a report, by the provider's name.
SPEAKERS = {ReportType.CALLER_SAID.value: "user", ReportType.AGENT_SAID.value: "assistant"}
# The cost among the counts of `Call.usage`, in USD, of tokens whose price was known.
COST = "cost"
# Speech whose words never came is asked for again after each gap, so not too much of it.
MOST_BEGUN = 3
# After so many gaps without a report between them, the session isn't read back any more.
FRUITLESS = 3


@dataclass(frozen=True)
class KeptCall:
    """A call with all that its keeper needs. `refusal` says why the agent doesn't take it; `fallback` is in E.164.

    `offer` is that of the browser, until the provider has answered it.
    """

    call_id: UUID
    external_id: str
    conversation_id: UUID
    project_id: UUID
    organization_id: UUID
    state: CallState
    provider: RealtimeCalls
    session: LiveSession
    context: Context
    fallback: str
    looks_up_caller: bool
    applied: int | None = None
    refusal: str = ""
    is_web: bool = False
    is_typed: bool = False
    offer: str = ""


def load_call(job: ClaimedJob) -> KeptCall | str | None:
    """The call, or the reason why it can't be kept; None if it is over."""
    with reading(job):
        call = Call.objects.select_related("conversation").filter(conversation_id=job.subject_id).first()
        if call is None or call.state not in OPEN_STATES:
            return None
        if (account := account_of(call)) is None:
            return NOT_CONNECTED
        project = Project.objects.select_related("agent_version").get(pk=call.project_id)
        if project.agent_version is None:
            return NO_AGENT
        session = build_session(call.conversation, provider="openai")
        return KeptCall(
            call_id=call.pk,
            external_id=call.external_id,
            conversation_id=call.conversation_id,
            project_id=call.project_id,
            organization_id=job.organization_id,
            state=CallState(call.state),
            provider=account.provider,
            session=session,
            context=_context(call),
            fallback=fallback_of(project, session.voice),
            looks_up_caller="lookup_caller" in collect_agent_tools(project, channel=call.conversation.channel).tools,
            applied=cursor_for(call.conversation, None).after,
            refusal=refusal_of(project, is_fallback_used=account.is_fallback_used)
            if call.state == CallState.RINGING
            else "",
            is_web=call.conversation.channel == Channel.WEBCALL,
            is_typed=call.external_id.startswith(TYPED),
            offer=call.offer,
        )


def _context(call: Call) -> Context:
    """The context of the call's tools. Nothing of it comes from a model, and nothing of it verifies the caller."""
    if call.conversation.channel == Channel.WEBCALL:
        return BrowserVoiceContext(business_id=call.project_id)
    return PhoneContext(
        channel="phone", caller_phone=call.caller, interaction_id=call.conversation_id, call_sid=call.external_id[:64]
    )


def fallback_of(project: Project, voice: VoiceSettings) -> str:
    """The number that takes the calls which the agent doesn't, in E.164; empty without one."""
    config = project.agent_version.config if project.agent_version else None
    try:
        return read_phone(voice.fallback_number, region=config.region if config else "US")
    except InvalidPhone:
        return ""


def refusal_of(project: Project, *, is_fallback_used: bool) -> str:
    """Why the agent doesn't take a call that rings, empty if it does."""
    config = project.agent_version.config if project.agent_version else None
    if config is None:
        return NO_AGENT
    if not is_checked(project.pk) and (spent := find_spent_budget(project)):
        return spent
    is_open = working_status(config, at=timezone.now()).is_open
    return CLOSED if is_fallback_used and not is_open else ""


def move(job: ClaimedJob, kept: KeptCall, state: CallState, *, is_over: bool = False, **changes: Any) -> None:
    """Change the call's state, with its event; `is_over` also ends the job. Raises LeaseLost."""
    finish = State.DONE if is_over else None
    with job_log(job, kept.conversation_id, finish=finish) as log:
        if state == CallState.LIVE:
            changes.setdefault("answered_at", Now())
        if is_over:
            changes.setdefault("ended_at", Now())
        Call.objects.filter(pk=kept.call_id).update(state=state, **changes)
        log.add_event(f"call_{state}", payload={"call": str(kept.call_id), "reason": changes.get("reason", "")})


def open_voice(job: ClaimedJob, kept: KeptCall) -> None:
    """The call was answered: from now on the agent speaks through the voice only. Raises LeaseLost."""
    report(job, kept, Report("call answered", ReportType.SPEECH_STOPPED))
    move(job, kept, CallState.LIVE)


def close_unkept(job: ClaimedJob) -> None:
    """End the job of a call that is over."""
    with job_tx(job, finish=State.DONE):
        pass


def fail_call(job: ClaimedJob, reason: str) -> None:
    """The call's job has failed, in the transaction that says so."""
    rows = Call.objects.filter(conversation_id=job.subject_id, state__in=OPEN_STATES)
    rows.update(state=CallState.FAILED, reason=reason[:300], ended_at=Now())


def report(job: ClaimedJob, kept: KeptCall, *reports: Report) -> None:
    """Store what happened in the call, each report once. Raises LeaseLost."""
    with tenant_tx(kept.organization_id):
        process_reports(kept.conversation_id, reports, project_id=kept.project_id, job=job)


def note_gap(job: ClaimedJob, kept: KeptCall) -> None:
    """Record that nobody held the call for a moment: words of that time may be missing from the transcript."""
    with job_log(job, kept.conversation_id) as log:
        call = Call.objects.get(pk=kept.call_id)
        Call.objects.filter(pk=kept.call_id).update(gaps=call.gaps + 1)
        log.add_event(GAP, payload={"call": str(kept.call_id)})


def record(
    job: ClaimedJob, kept: KeptCall, reports: Sequence[Report], *, outputs: Sequence[str], tokens: Mapping[str, int]
) -> None:
    """Store reports, that the model received the results of tool calls, and tokens, in one transaction.

    Raises LeaseLost.
    """
    with tenant_tx(kept.organization_id, plans_once=True):
        if reports:
            process_reports(kept.conversation_id, reports, project_id=kept.project_id, job=job)
        if outputs:
            with open_log(kept.conversation_id) as log:
                prove(job)
                for call_id in outputs:
                    log.add_event(REPORTED, payload={"id": f"{OUTPUT}{call_id}", "type": "tool_output"})
        if tokens:
            prove(job)
            _count(kept, tokens)


def _count(kept: KeptCall, tokens: Mapping[str, int]) -> None:
    usage: dict[str, Any] = Call.objects.values_list("usage", flat=True).get(pk=kept.call_id)
    for kind, count in tokens.items():
        usage[kind] = usage.get(kind, 0) + count
    cost = cost_of(tokens, model=str(kept.session.config.get("model")), prices=settings.MODEL_PRICES)
    if cost is not None:
        usage[COST] = round(usage.get(COST, 0) + float(cost), 6)
    Call.objects.filter(pk=kept.call_id).update(usage=usage)


def mark_missing_words(job: ClaimedJob, kept: KeptCall) -> None:
    """Say in the transcript that words may be missing here. Raises LeaseLost."""
    with job_log(job, kept.conversation_id) as log:
        add_words_missing(log)


def mark_cut_off(job: ClaimedJob, kept: KeptCall) -> None:
    """Say in the transcript, once, that the call ended while nobody listened, and ask staff to look. Raises LeaseLost.

    Does nothing if a living worker only lost the connection after the last word, as when the caller hung up.
    """
    if job.attempt == 1 and not read_record(job, kept).is_unfinished:
        return
    with job_log(job, kept.conversation_id) as log:
        if not log.conversation.events.filter(idn=CALL_CUT_OFF).exists():
            add_words_missing(log)
            flag_cut_off(log)


@dataclass(frozen=True)
class CallRecord:
    """The record of a call that is taken over.

    `undelivered` are tool calls that were begun and whose result the model may not have, `said` the ids of words, `begun`
    those of speech that began and has no words. `last_speaker` is `user` or `assistant`, empty if nobody spoke.
    `gaps` counts those since the last report, this one included, up to FRUITLESS.
    """

    undelivered: Sequence[Mapping[str, Any]]
    said: frozenset[str]
    begun: Sequence[str]
    last_speaker: str
    gaps: int = 0

    @property
    def was_cut_again(self) -> bool:
        """True if the keepers before got nowhere, as when the session can't be read back."""
        return self.gaps == FRUITLESS

    @property
    def is_unfinished(self) -> bool:
        """True if somebody was speaking, or the caller was not answered, or a keeper before this one got nowhere."""
        return bool(self.begun) or self.last_speaker == "user" or self.gaps > 1


def read_record(job: ClaimedJob, kept: KeptCall) -> CallRecord:
    """Read the record of a call."""
    with reading(job):
        events = Event.objects.filter(conversation_id=kept.conversation_id).order_by("seq")
        called = {one.payload["call"]: one.payload for one in events.filter(idn=CALLED)}
        reported = [one.payload for one in events.filter(idn=REPORTED)]
        newest = list(events.filter(idn__in=(REPORTED, GAP)).values_list("idn", flat=True))[-FRUITLESS:]
    ids = [str(one["id"]) for one in reported]
    words = [one for one in reported if one["type"] in SPEAKERS]
    said = frozenset(one["id"] for one in words)
    begun = [one.removeprefix(SPEECH) for one in ids if one.startswith(SPEECH)]
    return CallRecord(
        undelivered=[payload for call, payload in called.items() if f"{OUTPUT}{call}" not in ids],
        said=said,
        last_speaker=SPEAKERS[words[-1]["type"]] if words else "",
        gaps=len(list(takewhile(GAP.__eq__, reversed(newest)))),
        begun=[item for item in begun if item not in said][-MOST_BEGUN:],
    )
