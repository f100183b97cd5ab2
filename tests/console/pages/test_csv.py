"""Lists as CSV: their columns, filters and cells, and how they are streamed."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.core.exceptions import PermissionDenied
from django.db import connections
from django.http import Http404
from django.test import AsyncClient, Client
from django.urls import reverse
from django.utils import timezone

from console import csv_export
from console.csv_export import cell_text
from conversations.inbox.tags import change_tags, make_tag
from conversations.live.archive import archive_transcript
from conversations.live.event_log import lock_conversation
from conversations.models import Conversation
from projects.accounts.members import remove_member
from projects.models import AuditAction, AuditEntry, Member, Role, User
from projects.records.audit import Actor
from tests.conftest import Tenant
from tests.connection_leaks import _checkouts
from tests.console.pages.conftest import add_effect, add_promise, browser, talk
from todos.models import Todo, TodoSource, TodoStatus
from tools.models import Booking, EffectState, PromiseState, Resource
from tools.services.support.tickets import open_ticket

ROME = ZoneInfo("Europe/Rome")


def download(client: Client, tenant: Tenant, name: str, **query: Any) -> bytes:
    address = reverse(f"{name}_csv", args=[tenant.project.slug])
    response = client.get(address, query)
    assert response.status_code == 200, response
    return async_to_sync(_whole)(response)


async def _whole(response: Any) -> bytes:
    return b"".join([part async for part in response.streaming_content])


def rows(client: Client, tenant: Tenant, name: str, **query: Any) -> list[dict[str, str]]:
    text = download(client, tenant, name, **query).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def archive(conversation: Conversation, tenant: Tenant) -> None:
    with tenant.tx():
        lock_conversation(conversation.pk)
        archive_transcript(conversation.pk)


@pytest.mark.parametrize(
    "name", ["inbox", "conversations", "tickets", "promises", "effects", "todos", "bookings", "member_history", "usage"]
)
def test_every_list_is_a_csv_that_excel_reads_as_utf_8(owner: Client, tenant: Tenant, name: str) -> None:
    response = owner.get(reverse(f"{name}_csv", args=[tenant.project.slug]))
    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"].startswith('attachment; filename="')
    text = async_to_sync(_whole)(response)
    assert text.startswith(b"\xef\xbb\xbf")
    [header, *_] = csv.reader(io.StringIO(text.decode("utf-8-sig"), newline=""))
    assert len(header) == len(set(header)) > 5


def test_times_are_iso_8601_in_the_businesss_time_zone(owner: Client, tenant: Tenant) -> None:
    at = datetime(2026, 7, 1, 10, 0, tzinfo=UTC)
    talk(tenant, "Hi", at=at)
    [row] = rows(owner, tenant, "conversations")
    assert row["Started"] == "2026-07-01T12:00:00+02:00"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n", " =", "\t=", "＝", "＋"])
def test_a_cell_that_a_spreadsheet_would_run_is_inert(start: str) -> None:
    assert cell_text(f"{start}1+1", zone=ROME) == f"'{start}1+1"


@pytest.mark.parametrize("text", ["Anna", "3+4", "a=b", "anna@example.com", "10-12", "’=1", ""])
def test_other_text_is_left_as_it_is(text: str) -> None:
    assert cell_text(text, zone=ROME) == text


def test_numbers_are_left_as_they_are() -> None:
    assert [cell_text(value, zone=ROME) for value in (12, -3, 0, True, None)] == ["12", "-3", "0", "yes", ""]


def test_a_phone_number_stays_readable_and_keeps_its_plus(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "Hi", phone="+39021234567")
    [row] = rows(owner, tenant, "conversations")
    assert row["Customer"] == "'+39021234567"


def test_quotes_commas_and_line_breaks_stay_in_their_cell(owner: Client, tenant: Tenant) -> None:
    talk(tenant, 'One, "two"\nthree; =4')
    [row] = rows(owner, tenant, "conversations")
    assert row["Last message"] == 'One, "two"\nthree; =4'


def test_promises_are_those_of_the_period_and_the_filters(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi", name="Giulia Ferri")
    effect = add_effect(tenant, row)
    add_promise(tenant, row, "I’ll text you.", effect=effect, tool="send_sms_tool", state=PromiseState.KEPT)
    add_promise(tenant, row, "I’ll call you.")
    found = rows(owner, tenant, "promises", state="kept")
    assert [(one["Promise"], one["State"], one["Customer"], one["Channel"], one["Tool"]) for one in found] == [
        ("I’ll text you.", "Kept", "Giulia Ferri", "Chat", "send_sms_tool")
    ]
    assert [one["Promise"] for one in rows(owner, tenant, "promises", tool="none")] == ["I’ll call you."]
    assert len(rows(owner, tenant, "promises")) == 2


def test_effects_are_those_of_the_tab_and_the_tool(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    add_effect(tenant, row, state=EffectState.FAILED, error="=cmd")
    add_effect(tenant, row)
    [failed] = rows(owner, tenant, "effects", state="failed")
    assert (failed["State"], failed["Error"], failed["Attempts"]) == ("Failed", "'=cmd", "0")
    assert len(rows(owner, tenant, "effects")) == 2
    assert rows(owner, tenant, "effects", tool="no_such_tool") == []


def add_todo(tenant: Tenant, description: str, *, status: TodoStatus = TodoStatus.PENDING_REVIEW) -> Todo:
    with tenant.tx():
        return Todo.objects.create(
            project=tenant.project,
            description=description,
            status=status,
            source=TodoSource.PERSON,
            expires_at=timezone.now() + timedelta(days=1),
        )


def test_todos_are_those_of_the_status(owner: Client, tenant: Tenant) -> None:
    add_todo(tenant, "Order flowers")
    add_todo(tenant, "Call Ada", status=TodoStatus.REJECTED)
    found = rows(owner, tenant, "todos", view="list", state="rejected")
    assert [(one["Todo"], one["Status"]) for one in found] == [("Call Ada", "Rejected")]
    assert [one["Todo"] for one in rows(owner, tenant, "todos")] == ["Call Ada", "Order flowers"]


def add_booking(tenant: Tenant, name: str, *, at: datetime) -> None:
    with tenant.tx():
        Booking.objects.create(
            project_id=tenant.project.pk,
            resource=Resource.objects.filter(project=tenant.project)[0],
            code=name[:4].upper(),
            name=name,
            phone="+39021234567",
            party_size=4,
            starts_at=at,
            ends_at=at + timedelta(hours=2),
        )


def test_bookings_are_those_of_the_day_or_of_the_search_or_all(owner: Client, tenant: Tenant) -> None:
    add_booking(tenant, "Anna Rossi", at=datetime(2027, 3, 1, 19, tzinfo=UTC))
    add_booking(tenant, "Ben Lang", at=datetime(2027, 3, 2, 19, tzinfo=UTC))
    names = {
        key: [one["Name"] for one in rows(owner, tenant, "bookings", **query)]
        for key, query in {"day": {"day": "2027-03-01"}, "search": {"q": "lang"}, "all": {}}.items()
    }
    assert names == {"day": ["Anna Rossi"], "search": ["Ben Lang"], "all": ["Ben Lang", "Anna Rossi"]}
    [row] = rows(owner, tenant, "bookings", day="2027-03-01")
    assert (row["Starts"], row["People"], row["Phone"]) == ("2027-03-01T20:00:00+01:00", "4", "'+39021234567")


UNKNOWN = [
    ("promises", "state", "open, kept"),
    ("promises", "days", "7, 30, 90"),
    ("effects", "state", "unknown"),
    ("todos", "state", "pending_review"),
    ("todos", "source", "must be one of"),
    ("bookings", "day", "no date"),
    ("inbox", "view", "waiting"),
    ("conversations", "channel", "chat, phone"),
    ("tickets", "state", "pending"),
    ("inbox", "assignee", "none"),
    ("inbox", "tag", "must be an ID like"),
    ("inbox", "since", "since must be a day like 2026-11-28."),
    ("conversations", "until", "until must be a day like 2026-11-28."),
    ("promises", "since", "since must be a day like 2026-11-28."),
    ("promises", "of", "tests"),
    ("todos", "type", "must be an ID like"),
    ("usage", "month", "month must be a month like 2026-11."),
]


@pytest.mark.parametrize(("name", "filter", "known"), UNKNOWN)
def test_an_unknown_value_of_a_filter_is_refused(
    owner: Client, tenant: Tenant, name: str, filter: str, known: str
) -> None:
    """A whole list would be taken for a narrowed one."""
    answer = owner.get(reverse(f"{name}_csv", args=[tenant.project.slug]), {filter: "nonsense"})
    assert answer.status_code == 400
    assert known in answer.content.decode()
    assert owner.get(reverse(f"{name}_csv", args=[tenant.project.slug]), {filter: ""}).status_code == 200


VIEWS = {"todos": "list"}
PAGES = [
    ("dashboard", "days=5"),
    ("analytics", "days=5"),
    ("knowledge", "state=nonsense"),
    ("tools", "channel=nonsense"),
    ("bookings", "day=nonsense"),
    ("usage", "month=July"),
    ("inbox", "flagged=yes"),
    ("inbox", "test=yes"),
]


@pytest.mark.parametrize(("name", "query"), PAGES)
def test_a_page_refuses_a_filter_that_it_does_not_have(owner: Client, tenant: Tenant, name: str, query: str) -> None:
    assert owner.get(f"{reverse(name, args=[tenant.project.slug])}?{query}").status_code == 400


@pytest.mark.parametrize("name", ["promises", "effects", "todos", "inbox"])
def test_a_list_refuses_what_its_csv_refuses(owner: Client, tenant: Tenant, name: str) -> None:
    answer = owner.get(reverse(name, args=[tenant.project.slug]), {"state": "nonsense", "view": VIEWS.get(name, "")})
    assert answer.status_code == 400
    assert "state must be one of" in answer.content.decode()


UNKNOWN_DAYS = [
    ("since=28.11.2026", "since must be a day like"),
    ("since=2026-02-30", "since must be a day like"),
    ("until=20261128", "until must be a day like"),
    ("until=1999-12-31", "until must be from 2000-01-01 to 2099-12-31."),
    ("since=2026-11-28&until=2026-11-27", "until must not be before since."),
]
IMPOSSIBLE_PERIODS = [
    ("since=2099-01-01", "since must not be in the future."),
    ("since=2020-01-01&until=2022-01-01", "since must be at most 365 days before until."),
]
IN_DAYS = ["inbox", "inbox_csv", "conversations_csv", "promises", "promises_csv", "analytics"]
COUNTED = ["promises", "promises_csv", "analytics"]


@pytest.mark.parametrize(
    ("name", "query", "sentence"),
    [
        *((name, *case) for name in IN_DAYS for case in UNKNOWN_DAYS),
        *((name, *case) for name in COUNTED for case in IMPOSSIBLE_PERIODS),
    ],
)
def test_days_that_there_are_not_are_refused(
    owner: Client, tenant: Tenant, name: str, query: str, sentence: str
) -> None:
    answer = owner.get(f"{reverse(name, args=[tenant.project.slug])}?{query}")
    assert answer.status_code == 400
    assert sentence in answer.content.decode()


def test_the_refusal_of_a_page_leads_to_it_without_filters(owner: Client, tenant: Tenant) -> None:
    address = reverse("promises", args=[tenant.project.slug])
    assert f'href="{address}">Open without filters<' in owner.get(f"{address}?since=5").content.decode()
    of_file = owner.get(f"{reverse('promises_csv', args=[tenant.project.slug])}?since=5").content.decode()
    assert "Open without filters" not in of_file


@pytest.mark.parametrize("name", IN_DAYS)
@pytest.mark.parametrize("query", ["since=&until=", "since=2026-11-28&until=2026-11-28", "until=2026-11-28"])
def test_days_that_there_are_select(owner: Client, tenant: Tenant, name: str, query: str) -> None:
    assert owner.get(f"{reverse(name, args=[tenant.project.slug])}?{query}").status_code == 200


def test_promises_until_a_day_are_those_of_the_days_before(owner: Client, tenant: Tenant) -> None:
    """The list took `until` alone for no period at all."""
    row, old = talk(tenant, "Hi"), timezone.now() - timedelta(days=20)
    add_promise(tenant, row, "New")
    add_promise(tenant, row, "Old", at=old)
    until = (old + timedelta(days=2)).date().isoformat()
    assert [one["Promise"] for one in rows(owner, tenant, "promises", until=until, days=7)] == ["Old"]


def test_the_inbox_exports_its_tab(owner: Client, tenant: Tenant) -> None:
    talk(tenant, "Nothing", guest="one", name="Ada")
    talk(tenant, "Help", guest="two", name="Ben", flag="Angry")
    [waiting] = rows(owner, tenant, "inbox")
    assert (waiting["Customer"], waiting["Waits because"], waiting["Flag"]) == ("Ben", "Flagged", "Angry")
    assert [one["Customer"] for one in rows(owner, tenant, "inbox", view="all")] == ["Ben", "Ada"]
    assert [one["Customer"] for one in rows(owner, tenant, "conversations")] == ["Ben", "Ada"]


def test_the_inbox_exports_its_filters(owner: Client, tenant: Tenant) -> None:
    tagged, _ = talk(tenant, "Hi", guest="one", name="Ada"), talk(tenant, "Hi", guest="two", name="Ben")
    with tenant.tx():
        tag = make_tag(tenant.project, "VIP")
        change_tags(tagged.pk, add=[tag], remove=[], by=tenant.owner)
    [row] = rows(owner, tenant, "inbox", view="all", tag=tag.pk)
    assert (row["Customer"], row["Tags"]) == ("Ada", "VIP")


def test_the_tickets_tab_exports_tickets(owner: Client, tenant: Tenant) -> None:
    with tenant.tx():
        open_ticket(tenant.project.pk, subject="Broken lamp", body="It broke.", priority="high")
    for found in (rows(owner, tenant, "inbox", view="tickets"), rows(owner, tenant, "tickets")):
        assert [(one["Subject"], one["Priority"]) for one in found] == [("Broken lamp", "High")]
    assert rows(owner, tenant, "tickets", state="closed") == []


@pytest.mark.usefixtures("pages_of_two")
def test_a_search_exports_each_conversation_once(
    owner: Client, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("console.search.PAGE", 2)
    talk(tenant, "A table for Ben", "Ben again", "And Ben", guest="one", name="Ada")
    talk(tenant, "Ben?", "No", guest="two", name="Cleo")
    talk(tenant, "It is me, Ben", "Hi", guest="three", name="Ben")
    found = [one["Customer"] for one in rows(owner, tenant, "inbox", q="ben")]
    assert found == ["Ben", "Cleo", "Ada"]


def test_a_search_exports_an_archived_conversation_once(owner: Client, tenant: Tenant) -> None:
    """One of its matches is archived, the other is its last message, which is none."""
    archive(talk(tenant, "ben one", "ben two", guest="both"), tenant)
    archive(talk(tenant, "ben three", "Goodbye", guest="archived"), tenant)
    found = rows(owner, tenant, "inbox", q="ben")
    assert sorted(one["Last message"] for one in found) == ["Goodbye", "ben two"]


@pytest.fixture
def pages_of_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_export, "PAGE", 2)


@pytest.mark.usefixtures("pages_of_two")
@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 5])
def test_every_row_of_a_long_list_is_there_once(owner: Client, tenant: Tenant, number: int) -> None:
    for place in range(number):
        add_todo(tenant, f"Todo {place}")
    expected = [f"Todo {place}" for place in reversed(range(number))]
    assert [one["Todo"] for one in rows(owner, tenant, "todos")] == expected


async def opened(user: User, tenant: Tenant, name: str) -> Any:
    """A download of which the first page was read."""
    client = AsyncClient()
    await client.aforce_login(user)
    response = await client.get(reverse(f"{name}_csv", args=[tenant.project.slug]))
    assert response.status_code == 200
    return response, await anext(aiter(response.streaming_content))


@pytest.mark.usefixtures("pages_of_two")
def test_a_conversation_that_goes_on_during_the_download_is_not_missed(tenant: Tenant) -> None:
    for place in range(5):
        talk(tenant, f"Hi {place}", guest=f"guest {place}")

    def write_in_the_oldest() -> None:
        with tenant.tx():
            oldest = Conversation.objects.order_by("id").first()
            assert oldest is not None
            oldest.save(update_fields=["updated_at"])

    async def read() -> list[str]:
        response, first = await opened(tenant.owner, tenant, "conversations")
        await sync_to_async(write_in_the_oldest)()
        text = (first + await _whole(response)).decode("utf-8-sig")
        return [one["Last message"] for one in csv.DictReader(io.StringIO(text, newline=""))]

    assert async_to_sync(read)() == [f"Hi {place}" for place in reversed(range(5))]


@pytest.mark.usefixtures("pages_of_two")
def test_a_slow_reader_holds_no_connection_but_those_of_the_database_threads(tenant: Tenant) -> None:
    for place in range(5):
        add_todo(tenant, f"Todo {place}")

    async def read() -> set[str]:
        client = AsyncClient()
        await client.aforce_login(tenant.owner)
        await sync_to_async(connections.close_all)()
        before = set(_checkouts)
        response = await client.get(reverse("todos_csv", args=[tenant.project.slug]))
        await anext(aiter(response.streaming_content))
        held = {one.thread.name for key, one in list(_checkouts.items()) if key not in before}
        open_transactions = [one for one in _checkouts.values() if one.connection.info.transaction_status != 0]
        await _whole(response)
        assert open_transactions == []
        return held

    assert all(name.startswith("db") for name in async_to_sync(read)())


@pytest.mark.usefixtures("pages_of_two")
def test_a_member_who_is_removed_meanwhile_gets_no_further_page(tenant: Tenant, viewer: User) -> None:
    for place in range(5):
        add_todo(tenant, f"Todo {place}")

    def remove() -> None:
        with tenant.tx():
            remove_member(Member.objects.get(user=viewer), by=Actor(tenant.owner, Role.OWNER))

    async def read() -> None:
        response, _ = await opened(viewer, tenant, "todos")
        await sync_to_async(remove)()
        await _whole(response)

    with pytest.raises((Http404, PermissionDenied)):
        async_to_sync(read)()


def test_a_download_is_in_the_audit_log_with_its_filters(owner: Client, tenant: Tenant) -> None:
    rows(owner, tenant, "effects", state="failed")
    with tenant.tx():
        entry = AuditEntry.objects.filter(action=AuditAction.EXPORTED).get()
    assert (entry.subject, entry.actor_id, entry.project_name) == ("effects", tenant.owner.pk, tenant.project.name)
    assert entry.after == {"filters": "state=failed"}
    assert "Filters: state=failed" in rows(owner, tenant, "member_history")[1]["Changes"]


def test_the_audit_log_lists_downloads(owner: Client, tenant: Tenant) -> None:
    rows(owner, tenant, "effects")
    text = owner.get(reverse("member_history", args=[tenant.project.slug])).content.decode()
    assert "exported <b" in text


def test_a_head_request_downloads_nothing_of_anyone_signed_out(tenant: Tenant) -> None:
    address = reverse("promises_csv", args=[tenant.project.slug])
    response = Client().get(address)
    assert (response.status_code, response["Location"]) == (302, f"/account/login/?next={address}")


def test_a_stranger_finds_no_list(tenant: Tenant, stranger: Tenant) -> None:
    assert browser(stranger.owner).get(reverse("promises_csv", args=[tenant.project.slug])).status_code == 404


def test_an_operator_may_not_download_the_audit_log(tenant: Tenant, operator: User) -> None:
    address = reverse("member_history_csv", args=[tenant.project.slug])
    assert browser(operator).get(address).status_code == 403


LINKS: dict[str, Callable[[Tenant], object]] = {
    "inbox": lambda tenant: talk(tenant, "Hi"),
    "promises": lambda tenant: add_promise(tenant, talk(tenant, "Hi"), "I’ll call you."),
    "effects": lambda tenant: add_effect(tenant, talk(tenant, "Hi")),
    "todos": lambda tenant: add_todo(tenant, "Order flowers"),
    "bookings": lambda tenant: None,
}


@pytest.mark.parametrize("name", LINKS)
def test_each_list_links_to_its_csv(owner: Client, tenant: Tenant, name: str) -> None:
    LINKS[name](tenant)
    text = owner.get(
        reverse(name, args=[tenant.project.slug]), {"view": "list"} if name == "todos" else {}
    ).content.decode()
    assert f'href="{reverse(f"{name}_csv", args=[tenant.project.slug])}' in text
