"""The archive that retention moves old transcripts to."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from conversations.live.archive import ARCHIVED
from conversations.live.event_log import open_log
from conversations.models import Analysis, ArchivedTranscript, Conversation, Event, Message, MessageRole, Turn
from conversations.turns.services import post_message, start_conversation
from jobs.models import Job, State
from jobs.sweep import sweep
from privacy.models import RetentionRun
from privacy.retention import batches
from privacy.retention import sweep as retention
from tests.bypass_rls import bypass_rls
from tests.conftest import Tenant
from tests.conversations.test_stored_bytes import stored
from tests.privacy.conftest import erase
from tests.privacy.test_export import read
from tests.privacy.test_retention import past, run_night, set_days
from tests.processes import ForkServer, until
from todos.models import Todo
from tools.models import Promise, PromiseState

# Columns of a conversation that the night's work and the look for todos change.
CHANGED = {"archived_at": None, "extracted_to": 6}
WORDS = ("A table for two, please.", "At eight o’clock?", "Is it quiet there?")


@pytest.fixture(autouse=True)
def _archives(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "_looked_at", 0.0)
    monkeypatch.setattr(retention, "LOOK_SECONDS", 0.0)
    set_days(tenant, "archive", 90)


def begin(tenant: Tenant, *, age_days: int) -> Conversation:
    """A conversation of three answered turns that has been quiet for so long."""
    with tenant.tx():
        made = start_conversation(tenant.project, channel="chat", external_id="guest", known={}, metadata={})
        for words in WORDS:
            turn = post_message(made.pk, words).turn
            assert turn is not None
            with open_log(made.pk) as log:
                reply = log.add_message(MessageRole.AGENT, f"Yes: {words}", turn=turn, idn="agent_message")
                log.writes.change(Turn, turn.pk, reply=reply.pk, status="done")
            Analysis.objects.create(
                conversation=made,
                turn=turn,
                steps=[{"number": 1, "name": "Detection", "group": "detection", "held": {"said": words}}],
                finished_at=past(1),
            )
        Job.objects.filter(subject_id=made.pk).update(state=State.DONE, finished_at=past(age_days))
    grow_old(made, age_days=age_days)
    return made


def grow_old(conversation: Conversation, *, age_days: int) -> None:
    bypass_rls("update conversations_conversation set updated_at = %s where id = %s", past(age_days), conversation.pk)


def rows_of(tenant: Tenant, conversation: Conversation) -> dict[str, Any]:
    """Every row of the tables that are archived, and of the turns that refer to them."""
    with tenant.tx():
        found = {model: model._default_manager.filter(conversation=conversation) for model in (*INSIDE, Turn)}
        return {model.__name__: list(rows.order_by("pk").values()) for model, rows in found.items()}


INSIDE = tuple(model for model in ARCHIVED if model.__name__ != "MessageTranslation")


def shown(api: Client, conversation: Conversation) -> list[Any]:
    """The messages that the page of a conversation reads."""
    base = f"/api/v1/conversations/{conversation.pk}"
    turns = api.get(f"{base}/turns").json()["results"]
    details = [api.get(f"{base}/turns/{turn['id']}").json() for turn in turns]
    return [api.get(f"{base}/messages").json(), turns, details]


def test_an_archived_transcript_reads_as_before(tenant: Tenant, api: Client) -> None:
    old = begin(tenant, age_days=91)
    before = shown(api, old)
    run = run_night(tenant)
    assert run.removed["archive"] == 1
    with tenant.tx():
        assert (Message.objects.count(), Event.objects.count(), Analysis.objects.count()) == (1, 0, 0)
    assert shown(api, old) == before
    assert [one["seq"] for one in before[0]["results"]] == [1, 2, 3, 4, 5, 6]


def test_an_archived_transcript_is_listed_page_by_page(tenant: Tenant, api: Client) -> None:
    old = begin(tenant, age_days=91)
    run_night(tenant)
    found, url = [], f"/api/v1/conversations/{old.pk}/messages?limit=4"
    while url:
        page = api.get(url).json()
        found += [one["seq"] for one in page["results"]]
        url = page["next"]
    assert found == [1, 2, 3, 4, 5, 6]


def test_a_younger_conversation_is_not_archived(tenant: Tenant) -> None:
    begin(tenant, age_days=89)
    run_night(tenant)
    with tenant.tx():
        assert (Message.objects.count(), ArchivedTranscript.objects.count()) == (6, 0)


def test_a_conversation_that_goes_on_has_its_rows_again(tenant: Tenant, api: Client) -> None:
    old = begin(tenant, age_days=91)
    before = rows_of(tenant, old)
    run_night(tenant)
    with tenant.tx(), open_log(old.pk):
        """Nothing is written."""
    assert rows_of(tenant, old) == before
    with tenant.tx():
        assert not ArchivedTranscript.objects.exists()
        assert post_message(old.pk, "It's me again").message.seq == 7


def test_a_conversation_is_archived_again_when_it_is_quiet_again(tenant: Tenant, api: Client) -> None:
    old = begin(tenant, age_days=95)
    run_night(tenant)
    with tenant.tx():
        post_message(old.pk, "It's me again")
        Job.objects.update(state=State.DONE)
    grow_old(old, age_days=91)
    run_night(tenant)
    with tenant.tx():
        assert (Message.objects.count(), ArchivedTranscript.objects.count()) == (1, 1)
    assert [one["seq"] for one in shown(api, old)[0]["results"]] == [1, 2, 3, 4, 5, 6, 7]


def test_a_message_that_a_promise_quotes_stays(tenant: Tenant, api: Client) -> None:
    old = begin(tenant, age_days=91)
    with tenant.tx():
        quoted = Message.objects.get(seq=2)
        Promise.objects.create(
            project_id=tenant.project.pk,
            conversation_id=old.pk,
            turn_id=quoted.turn_id,
            message_id=quoted.pk,
            quote="Yes",
            due_at=timezone.now(),
            owner="",
            state=PromiseState.WITHDRAWN,
        )
    run_night(tenant)
    with tenant.tx():
        assert [one.seq for one in Message.objects.order_by("seq")] == [2, 6]


def test_the_customers_export_has_the_archived_transcript(tenant: Tenant) -> None:
    old = begin(tenant, age_days=91)
    before = documents(tenant, old)
    run_night(tenant)
    assert documents(tenant, old) == before


def documents(tenant: Tenant, conversation: Conversation) -> list[Any]:
    """The conversation in its customer's export, as JSON and as a page."""
    found = read(tenant, conversation.persona_id)
    [name] = [one for one in found.namelist() if one.startswith("conversations/") and one.endswith(".json")]
    document = json.loads(found.read(name))
    document["conversations"] = [{**one, **CHANGED} for one in document["conversations"]]
    return [document, found.read(name.replace(".json", ".html"))]


def test_archived_messages_count_as_storage_as_before(tenant: Tenant) -> None:
    old = begin(tenant, age_days=91)
    before = stored(tenant)
    run_night(tenant)
    assert before["messages"] > 50
    assert stored(tenant) == before
    with tenant.tx(), open_log(old.pk):
        """Nothing is written."""
    assert stored(tenant) == before


def test_a_deleted_archive_gives_its_bytes_back(tenant: Tenant) -> None:
    old = begin(tenant, age_days=91)
    run_night(tenant)
    with tenant.tx():
        Conversation.objects.filter(pk=old.pk)._raw_delete("default")
    assert stored(tenant) == {}


def test_the_archive_is_erased_with_the_customer(tenant: Tenant) -> None:
    old = begin(tenant, age_days=91)
    run_night(tenant)
    erase(tenant, old.persona_id)
    with tenant.tx():
        assert not ArchivedTranscript.objects.exists()
        assert not Conversation.objects.exists()


def test_a_conversation_that_was_open_is_archived_another_night(tenant: Tenant) -> None:
    first, second = begin(tenant, age_days=92), begin(tenant, age_days=91)
    expires = timezone.now() + timedelta(days=1)
    with tenant.tx():
        Todo.objects.create(
            project=tenant.project, conversation_id=first.pk, description="x", source="person", expires_at=expires
        )
    run_night(tenant)
    with tenant.tx():
        assert [one.conversation_id for one in ArchivedTranscript.objects.all()] == [second.pk]
        Todo.objects.update(status="completed")
    run_night(tenant)
    with tenant.tx():
        assert {one.conversation_id for one in ArchivedTranscript.objects.all()} == {first.pk, second.pk}


def test_a_later_night_does_not_read_archived_conversations_again(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin(tenant, age_days=91)
    run_night(tenant)
    looked_at = list[Any]()
    monkeypatch.setattr(batches, "_lock_deletable", lambda pk, before: looked_at.append(pk))
    run_night(tenant)
    assert looked_at == []


def test_the_events_of_a_long_conversation_go_in_several_transactions(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = begin(tenant, age_days=91)
    before = rows_of(tenant, old)
    monkeypatch.setattr(batches, "ROWS", 3)
    run_night(tenant)
    with tenant.tx():
        assert not Event.objects.exists()
        with open_log(old.pk):
            """Nothing is written."""
    assert rows_of(tenant, old) == before


@pytest.mark.short_leases
@pytest.mark.parametrize("label", ["retention.pre_commit", "retention.step"])
@pytest.mark.parametrize("step", [2, 3, 4])
def test_nothing_is_lost_when_the_worker_dies(tenant: Tenant, processes: ForkServer, label: str, step: int) -> None:
    old = begin(tenant, age_days=91)
    before = rows_of(tenant, old)
    sweep()
    with tenant.tx():
        RetentionRun.objects.update(due_at=timezone.now())
    processes.worker(crash_at=f"{label}:{step}").wait()
    processes.worker()

    def is_over() -> bool:
        with tenant.tx():
            return RetentionRun.objects.get().finished_at is not None

    until(is_over, what="the end of the night's work")
    with tenant.tx():
        assert (ArchivedTranscript.objects.count(), Event.objects.count()) == (1, 0)
        with open_log(old.pk):
            """Nothing is written."""
    assert rows_of(tenant, old) == before
