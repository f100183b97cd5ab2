"""Two customers become one: what moves, which value wins, and what a merge may not break."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client
from django.utils import timezone

from conversations.common.contacts import read_contact
from conversations.common.merged import lock_customer
from conversations.customers.merge import merge_customers, read_preview
from conversations.flows import observer
from conversations.models import Conversation, Persona, PersonaField
from conversations.turns.services import give_fields, start_conversation
from conversations.widget.visitors import find_conversation, new_visitor
from projects.agents.services import create_project
from projects.common.api_error import Conflict
from projects.models import AuditEntry
from tests.conftest import Tenant
from tests.conversations.conftest import begin
from tests.conversations.threads import claimed, in_thread, run, until_waiting
from tests.processes import ScriptedModel
from todos.models import Todo, TodoSource
from tools.engine.execution.consent import is_refused
from tools.engine.hooks import lock_customer as hooked
from tools.models import Ticket, Verification
from tools.services.support.tickets import open_ticket


def person(tenant: Tenant, external_id: str, **known: str) -> Persona:
    with tenant.tx():
        talk = start_conversation(tenant.project, channel="chat", external_id=external_id, known=known, metadata={})
        return talk.persona


def fields(tenant: Tenant, persona: Persona) -> dict[str, str]:
    with tenant.tx():
        rows = PersonaField.objects.filter(persona=persona, conversation=None)
        return dict(rows.values_list("key", "value"))


def merge(tenant: Tenant, target: Persona, source: Persona) -> Persona:
    with tenant.tx():
        seen = read_preview(tenant.project, target.pk, source.pk).seen
        return merge_customers(tenant.project, target.pk, source.pk, seen=seen, by=tenant.owner)


@pytest.fixture
def anna(tenant: Tenant) -> Persona:
    return person(tenant, "anna", name="Anna", phone="+393470000001")


@pytest.fixture
def twin(tenant: Tenant) -> Persona:
    return person(tenant, "twin", name="Anna R.", email="anna@mail.example")


def url(persona: Persona) -> str:
    return f"/api/v1/personas/{persona.pk}/merge"


def test_everything_of_the_merged_customer_moves(tenant: Tenant, anna: Persona, twin: Persona) -> None:
    with tenant.tx():
        open_ticket(tenant.project.pk, subject="x", body="y", persona_id=twin.pk)
        Todo.objects.create(
            project=tenant.project,
            description="x",
            source=TodoSource.API,
            persona_id=twin.pk,
            expires_at=timezone.now() + timedelta(days=1),
        )
    merge(tenant, anna, twin)
    with tenant.tx():
        assert Conversation.objects.filter(persona=anna).count() == 2
        assert Ticket.objects.get().persona_id == Todo.objects.get().persona_id == anna.pk


def test_a_value_moves_only_if_there_is_no_other(tenant: Tenant, anna: Persona, twin: Persona) -> None:
    merge(tenant, anna, twin)
    assert fields(tenant, anna) == {"name": "Anna", "phone": "+393470000001", "email": "anna@mail.example"}
    assert fields(tenant, twin) == {"name": "Anna R."}


@pytest.mark.parametrize(("kept", "merged"), [("true", "false"), ("false", "true"), (None, "false")])
def test_the_stricter_consent_wins(tenant: Tenant, anna: Persona, twin: Persona, kept: str, merged: str) -> None:
    with tenant.tx():
        give_fields(anna, {"sms_opt_in": kept} if kept else {})
        give_fields(twin, {"sms_opt_in": merged})
    merge(tenant, anna, twin)
    assert fields(tenant, anna)["sms_opt_in"] == "false"
    with tenant.tx():
        stranger = read_contact(person_with(tenant, phone="+393470000001"))
        assert is_refused("sms", project_id=tenant.project.pk, contact=stranger)


def person_with(tenant: Tenant, **known: str) -> UUID:
    """Another customer, in the open transaction."""
    row = Persona.objects.create(project=tenant.project, external_id=uuid4().hex)
    give_fields(row, known)
    return row.pk


def test_a_consent_given_for_another_number_does_not_move(tenant: Tenant, anna: Persona) -> None:
    twin = person(tenant, "twin", phone="+393470000002", sms_opt_in="true")
    merge(tenant, anna, twin)
    assert "sms_opt_in" not in fields(tenant, anna)


def test_the_history_of_consents_is_that_of_both(api: Client, tenant: Tenant, anna: Persona, twin: Persona) -> None:
    with tenant.tx():
        give_fields(twin, {"email_opt_in": "true"})
    merge(tenant, anna, twin)
    consents = api.get(f"/api/v1/personas/{anna.pk}").json()["consents"]
    assert [(one["kind"], one["given"]) for one in consents] == [("email", True)]


def test_neither_of_the_two_counts_as_verified(tenant: Tenant, anna: Persona, twin: Persona) -> None:
    with tenant.tx():
        Verification.objects.create(
            project=tenant.project, persona_id=anna.pk, conversation_id=begin_of(anna), method="code"
        )
    merge(tenant, anna, twin)
    with tenant.tx():
        assert not Verification.objects.filter(persona_id=anna.pk).exists()


def begin_of(persona: Persona) -> UUID:
    return Conversation.objects.get(persona=persona).pk


def test_ids_of_the_merged_customer_lead_to_the_other(
    api: Client, tenant: Tenant, anna: Persona, twin: Persona
) -> None:
    merge(tenant, anna, twin)
    assert api.get(f"/api/v1/personas/{twin.pk}").json()["id"] == str(anna.pk)
    body = {"channel": "api", "persona": {"external_id": "twin", "phone": "+393470000009"}}
    begun = api.post("/api/v1/conversations", body, content_type="application/json").json()
    assert begun["persona"]["id"] == str(anna.pk)
    assert begun["persona"]["phone"] == "+393470000009"


def test_an_id_leads_through_two_merges_in_one_step(tenant: Tenant, anna: Persona, twin: Persona) -> None:
    third = person(tenant, "third")
    merge(tenant, anna, twin)
    merge(tenant, third, anna)
    with tenant.tx():
        assert lock_customer(twin.pk) == lock_customer(anna.pk) == hooked(third.pk) == third.pk
        assert Persona.objects.get(pk=twin.pk).merged_into_id == third.pk


def test_a_visitor_sees_only_the_chats_of_their_own_browser(tenant: Tenant) -> None:
    visitor, other = new_visitor(), new_visitor()
    own, theirs = (begin(tenant, external_id=one.names[0]).conversation for one in (visitor, other))
    merge(tenant, own.persona, theirs.persona)
    with tenant.tx():
        assert [find_conversation(tenant.project, one).pk for one in (visitor, other)] == [own.pk, theirs.pk]
        later = start_conversation(tenant.project, channel="chat", external_id=other.names[0], known={}, metadata={})
        assert [find_conversation(tenant.project, one).pk for one in (visitor, other)] == [own.pk, later.pk]


def test_the_preview_names_what_moves_and_what_differs(
    api: Client, tenant: Tenant, anna: Persona, twin: Persona
) -> None:
    with tenant.tx():
        give_fields(anna, {"email_opt_in": "true"})
        give_fields(twin, {"email_opt_in": "false"})
    preview = api.get(url(anna), {"persona": str(twin.pk)}).json()
    assert preview["moves"]["conversations"] == 1
    outcomes = {field["field"]: (field["kept"], field["outcome"]) for field in preview["fields"]}
    assert outcomes == {
        "email": (None, "moves"),
        "email_opt_in": ("true", "wins"),
        "name": ("Anna", "loses"),
    }


def posted(api: Client, target: Persona, source: UUID, seen: str) -> Any:
    body = {"persona": str(source), "seen": seen}
    return api.post(url(target), body, content_type="application/json")


def seen_of(api: Client, target: Persona, source: Persona) -> str:
    return api.get(url(target), {"persona": str(source.pk)}).json()["seen"]


def test_a_merge_is_in_the_audit_log(api: Client, tenant: Tenant, anna: Persona, twin: Persona) -> None:
    answer = posted(api, anna, twin.pk, seen_of(api, anna, twin))
    assert (answer.status_code, answer.json()["id"]) == (200, str(anna.pk))
    with tenant.tx():
        entry = AuditEntry.objects.get(action="customer.merged")
    assert (entry.actor, entry.after["merged"]) == ("the key test", str(twin.pk))
    assert "Anna R." not in f"{entry.before}{entry.after}"


@pytest.mark.parametrize("changed", ["anna", "twin"])
def test_a_merge_is_refused_if_either_has_changed_since(
    api: Client, tenant: Tenant, anna: Persona, twin: Persona, changed: str
) -> None:
    seen = seen_of(api, anna, twin)
    with tenant.tx():
        give_fields({"anna": anna, "twin": twin}[changed], {"city": "Bari"})
    answer = posted(api, anna, twin.pk, seen)
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "changed_since")


def test_a_second_merge_of_the_same_customer_is_refused(
    api: Client, tenant: Tenant, anna: Persona, twin: Persona
) -> None:
    seen = seen_of(api, anna, twin)
    merge(tenant, anna, twin)
    assert posted(api, anna, twin.pk, seen).status_code == 409


@pytest.mark.parametrize("own", [True, False])
def test_a_customer_of_another_tenant_or_project_is_refused(
    api: Client, tenant: Tenant, stranger: Tenant, anna: Persona, own: bool
) -> None:
    if own:
        with tenant.tx():
            other = create_project("Other", config=tenant.project.agent_version.config, author=tenant.owner)
            found = Persona.objects.create(project=other, external_id="x")
    else:
        found = person(stranger, "x")
    assert posted(api, anna, found.pk, "x").status_code == 409


def test_a_customer_is_not_merged_with_themselves(api: Client, anna: Persona) -> None:
    assert posted(api, anna, anna.pk, "x").status_code == 422


def test_a_running_turn_stores_what_it_learns_with_the_customer_who_stays(
    tenant: Tenant,
    anna: Persona,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    """The two are merged when the observer has its answer of the model, and hasn't stored it."""
    settings.OPENAI_BASE_URL = model.base_url
    talk = begin(tenant, external_id="twin")
    talk.say("My e-mail address is rosa@mail.example")
    run(claimed("reply"))

    def merge_before_the_commit(name: str) -> None:
        if name == "lane.llm_done_pre_commit":
            with ThreadPoolExecutor(1) as pool:
                in_thread(pool, lambda: merge(tenant, anna, talk.conversation.persona)).result(timeout=60)

    monkeypatch.setattr(observer, "failpoint", merge_before_the_commit)
    run(claimed("observer"))
    assert fields(tenant, anna)["email"] == "rosa@mail.example"
    assert fields(tenant, talk.conversation.persona) == {}


def test_a_merge_waits_for_whoever_writes_a_conversation(tenant: Tenant, anna: Persona) -> None:
    talk = begin(tenant, external_id="twin")

    def merging() -> None:
        merge(tenant, anna, talk.conversation.persona)

    with ThreadPoolExecutor(1) as pool:
        with tenant.tx():
            list(Conversation.objects.select_for_update().filter(pk=talk.conversation.pk))
            merged = in_thread(pool, merging)
            until_waiting(1)
            PersonaField.objects.create(persona=talk.conversation.persona, key="city", value="Bari", strength=2)
        error = merged.exception(timeout=60)
    assert isinstance(error, Conflict)
