"""“Try it”: one real message by a project's connection to an address that staff typed, or one real look-up."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

from projects.common.crypto import WrongSecret
from projects.common.phones import NumberRefused, textable_number
from projects.connections.integration_types import SourceKind
from projects.connections.integrations import Connection, clear_needs_reauth, mark_needs_reauth, open_source
from projects.models import Project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.outcome import Ending, Outcome
from tools.services.calendar.availability import KIND as CALENDAR
from tools.services.calendar.caldav_client import CalendarFailed
from tools.services.calendar.caldav_client import SignInRefused as SignInRefusedByCalendar
from tools.services.calendar.trial import try_calendar, write_missed
from tools.services.caller_lookup.directory import DirectoryFailed
from tools.services.caller_lookup.lookup import directory_over
from tools.services.messaging.base import Email, Sms, needs_reauth, refused_sign_in
from tools.services.messaging.channels import CARRIERS, channel_over
from tools.services.orders.lookup import shop_over
from tools.services.orders.shop import ShopFailed, SignInRefused

SUBJECT = "A test"
WORDS = "This is a test of {project}, sent by Makegood. Everything works when you read it."


@dataclass(frozen=True)
class Trial:
    """How it went, in a sentence."""

    is_ok: bool
    sentence: str


NOT_CONNECTED = Trial(False, "Nothing is connected. Connect it first.")
SHOWN = 300


async def try_source(project: Project, kind: SourceKind, *, to: str) -> Trial:
    """Try a connection out: a message goes `to` an address, or somebody is looked up by it."""
    try:
        return await _tried(project, kind, to=to)
    except WrongSecret:
        return Trial(False, f"The stored {kind.credential.lower()} can’t be read any more; write it again.")


async def _tried(project: Project, kind: SourceKind, *, to: str) -> Trial:
    if kind.name == "woocommerce_products":
        return await _ask_shop(project, kind)
    if kind.name == CALENDAR:
        return await _ask_calendar(project, kind)
    if kind.name == "client_lookup":
        return await _ask_directory(project, kind, phone=to)
    return await send_test(project, kind, to=to)


async def _ask_shop(project: Project, kind: SourceKind) -> Trial:
    """Ask for one order of the shop, whosever it is, and show nothing of it."""
    organization_id = project.organization.pk
    connection = await in_db(_open, organization_id, project.pk, kind.name)
    if connection is None:
        return NOT_CONNECTED
    try:
        found = await shop_over(connection).fetch({"per_page": "1"})
    except SignInRefused as error:
        await in_db(_note_sign_in, organization_id, connection, refused_sign_in(str(error)))
        return Trial(False, str(error))
    except ShopFailed as error:
        return Trial(False, str(error))
    if not isinstance(found, list):
        return Trial(False, "The shop's answer is no list of orders.")
    await in_db(_note_sign_in, organization_id, connection, Outcome.done(""))
    return Trial(True, "The shop answers, and lets its orders be read.")


async def _ask_calendar(project: Project, kind: SourceKind) -> Trial:
    """Ask the calendar what it is and when it is taken. A good answer writes to it what it has missed."""
    organization_id = project.organization.pk
    connection = await in_db(_open, organization_id, project.pk, kind.name)
    if connection is None:
        return NOT_CONNECTED
    try:
        sentence = await try_calendar(connection, project)
    except SignInRefusedByCalendar as error:
        await in_db(_note_sign_in, organization_id, connection, refused_sign_in(str(error)))
        return Trial(False, str(error))
    except CalendarFailed as error:
        return Trial(False, str(error))
    await in_db(_note_sign_in, organization_id, connection, Outcome.done(""))
    missed = await in_db(write_missed, project)
    return Trial(True, f"{sentence} {missed}".strip())


async def _ask_directory(project: Project, kind: SourceKind, *, phone: str) -> Trial:
    """Look one number up, and show the beginning of what the agent would read."""
    connection = await in_db(_open, project.organization.pk, project.pk, kind.name)
    if connection is None:
        return NOT_CONNECTED
    if not phone:
        return Trial(False, "Write the phone number of somebody whom your system knows.")
    try:
        text = await directory_over(connection).find(phone[:40])
    except DirectoryFailed as error:
        return Trial(False, str(error))
    line = " ".join(text.split())
    shown = line if len(line) <= SHOWN else f"{line[:SHOWN]} …"
    return Trial(True, f"It answers: {shown}" if shown else "It answers, and knows nobody with this number.")


async def send_test(project: Project, kind: SourceKind, *, to: str) -> Trial:
    """Send one, and note whether the service takes the sign-in. No transaction may be open: it can take 30 seconds.

    It belongs to no conversation, so that the ledger of effects knows nothing of it.
    """
    organization_id = project.organization.pk
    connection = await in_db(_open, organization_id, project.pk, kind.name)
    if connection is None:
        return NOT_CONNECTED
    try:
        message = _message(kind, project, to.strip())
    except NumberRefused as refusal:
        return Trial(False, str(refusal))
    outcome = await channel_over(connection).send(message, key=f"test-{uuid4().hex}")
    await in_db(_note_sign_in, organization_id, connection, outcome)
    return _trial(outcome, to.strip())


def _message(kind: SourceKind, project: Project, to: str) -> Sms | Email:
    """Raises NumberRefused."""
    words = WORDS.format(project=project.name)
    if CARRIERS[Sms] == kind.name:
        version = project.agent_version
        return Sms(to=textable_number(to, region=version.config.region if version else "US"), text=words)
    return Email(to=to, subject=SUBJECT, body=words)


def _open(organization_id: UUID, project_id: UUID, kind: str) -> Connection | None:
    with tenant_tx(organization_id):
        return open_source(project_id, kind)


def _note_sign_in(organization_id: UUID, tried: Connection, outcome: Outcome) -> None:
    with tenant_tx(organization_id):
        if needs_reauth(outcome):
            mark_needs_reauth(tried.source_id, tried=tried)
        elif outcome.ending is Ending.DONE:
            clear_needs_reauth(tried.source_id, tried=tried)


def _trial(outcome: Outcome, to: str) -> Trial:
    if outcome.ending is Ending.DONE:
        return Trial(True, f"Sent to {to}. Look whether it arrives.")
    return Trial(False, outcome.error)
