"""Connection checks for staff: one real test message, or one real lookup."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID, uuid4

from django.utils.translation import gettext

from projects.common.crypto import WrongSecret
from projects.common.phones import NumberRefused, textable_number
from projects.common.translation import lazy
from projects.connections.integration_types import SourceKind
from projects.connections.integrations import Connection, clear_needs_reauth, mark_needs_reauth, open_source
from projects.models import Project
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.execution.outcome import Ending, Outcome
from tools.services.calendar.availability import KIND as CALENDAR
from tools.services.calendar.caldav_client import CalendarFailed
from tools.services.calendar.caldav_client import SignInRefused as SignInRefusedByCalendar
from tools.services.calendar.trial import check_calendar, sync_missed
from tools.services.caller_lookup.directory import DirectoryFailed
from tools.services.caller_lookup.lookup import directory_client
from tools.services.messaging.base import Email, Sms, needs_reauth, refused_sign_in
from tools.services.messaging.channels import CARRIERS, channel_for
from tools.services.orders.lookup import shop_client
from tools.services.orders.shop import ShopFailed, SignInRefused

SUBJECT = lazy("A test")
WORDS = lazy("This is a test from {project}, sent by Makegood. If you can read this, it works.")


@dataclass(frozen=True)
class CheckResult:
    """The result of a check, and a sentence about it."""

    is_ok: bool
    sentence: str


NOT_CONNECTED = CheckResult(False, lazy("Not connected yet. Connect it first."))
SHOWN = 300


async def check_connection(project: Project, kind: SourceKind, *, to: str) -> CheckResult:
    """Check a connection: send a message `to` an address, or look up a caller by it.

    No transaction may be open, because it can take 30 seconds. A message belongs to no conversation, so the ledger has no
    effect for it.
    """
    try:
        connection = await in_db(_open, project.organization.pk, project.pk, kind.name)
        return NOT_CONNECTED if connection is None else await _check_open(connection, project, kind, to=to)
    except WrongSecret:
        return CheckResult(
            False,
            gettext("%(credential)s: the stored one can’t be read. Enter it again.") % {"credential": kind.credential},
        )


async def _check_open(connection: Connection, project: Project, kind: SourceKind, *, to: str) -> CheckResult:
    try:
        if kind.name == "woocommerce_products":
            return await _check_shop(connection, project)
        if kind.name == CALENDAR:
            return await _check_calendar(connection, project)
        if kind.name == "client_lookup":
            return await _check_directory(connection, phone=to)
        return await _send_test(connection, project, kind, to=to.strip())
    except (SignInRefused, SignInRefusedByCalendar) as error:
        await in_db(_record_sign_in, project.organization.pk, connection, refused_sign_in(str(error)))
        return CheckResult(False, str(error))
    except (ShopFailed, CalendarFailed, DirectoryFailed, NumberRefused) as error:
        return CheckResult(False, str(error))


async def _check_shop(connection: Connection, project: Project) -> CheckResult:
    """Fetch any one order from the shop, and show nothing of it."""
    if not isinstance(await shop_client(connection).fetch({"per_page": "1"}), list):
        return CheckResult(False, gettext("The shop's response is not a list of orders."))
    await in_db(_record_sign_in, project.organization.pk, connection, Outcome.done(""))
    return CheckResult(True, gettext("The shop responded, and its orders can be read."))


async def _check_calendar(connection: Connection, project: Project) -> CheckResult:
    """Check the calendar. On success, write what it has missed."""
    sentence = await check_calendar(connection, project)
    await in_db(_record_sign_in, project.organization.pk, connection, Outcome.done(""))
    missed = await in_db(sync_missed, project)
    return CheckResult(True, f"{sentence} {missed}".strip())


async def _check_directory(connection: Connection, *, phone: str) -> CheckResult:
    """Look up one number, and show the beginning of what the agent would read."""
    if not phone:
        return CheckResult(False, gettext("Enter a phone number that your system knows."))
    line = " ".join((await directory_client(connection).find(phone[:40])).split())
    if not line:
        return CheckResult(True, gettext("The endpoint responded. It knows nobody with this number."))
    shown = line if len(line) <= SHOWN else f"{line[:SHOWN]} …"
    return CheckResult(True, gettext("Response: %(shown)s") % {"shown": shown})


async def _send_test(connection: Connection, project: Project, kind: SourceKind, *, to: str) -> CheckResult:
    """Send a test message, and note whether the service accepts the sign-in."""
    message = _message(kind, project, to)
    outcome = await channel_for(connection).send(message, key=f"test-{uuid4().hex}")
    await in_db(_record_sign_in, project.organization.pk, connection, outcome)
    return _result(outcome, to)


def _message(kind: SourceKind, project: Project, to: str) -> Sms | Email:
    """Raises NumberRefused."""
    words = WORDS.format(project=project.name)
    if CARRIERS[Sms] == kind.name:
        version = project.agent_version
        return Sms(to=textable_number(to, region=version.config.region if version else "US"), text=words)
    return Email(to=to, subject=str(SUBJECT), body=words)


def _open(organization_id: UUID, project_id: UUID, kind: str) -> Connection | None:
    with tenant_tx(organization_id):
        return open_source(project_id, kind)


def _record_sign_in(organization_id: UUID, tried: Connection, outcome: Outcome) -> None:
    with tenant_tx(organization_id):
        if needs_reauth(outcome):
            mark_needs_reauth(tried.source_id, tried=tried)
        elif outcome.ending is Ending.DONE:
            clear_needs_reauth(tried.source_id, tried=tried)


def _result(outcome: Outcome, to: str) -> CheckResult:
    if outcome.ending is Ending.DONE:
        return CheckResult(True, gettext("Sent to %(to)s. Check that it arrives.") % {"to": to})
    return CheckResult(False, outcome.error)
