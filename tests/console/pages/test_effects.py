"""The ledger of effects: its states, one effect in full, and the answers that people give."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.common.turn_detail import turn_payload
from conversations.models import Turn
from jobs.enqueue import enqueue
from jobs.models import Job
from projects.agents.services import create_project
from projects.common.presenters import stamp
from tests.conftest import Tenant
from tests.console.pages.conftest import add_effect, add_promise, browser, talk
from tests.tools.messaging.conftest import connect_twilio
from tools.engine.ledger import job_for, retry_job
from tools.models import AfterAction, AfterActionState, Effect, EffectState

OUTBOX = {"adapter": "outbox", "result": {"outbox": True}, "request": {"to": "+393475550142", "text": "See you Friday"}}
WEBHOOK = {
    "method": "POST",
    "url": "https://kitchen.example/notes",
    "headers": {"Idempotency-Key": "k", "X-Api-Key": "••••"},
    "body": {"note": "nuts"},
}


def list_of(tenant: Tenant, query: str = "") -> str:
    return reverse("effects", args=[tenant.project.slug]) + query


def url_of(tenant: Tenant, effect: Effect) -> str:
    return reverse("effect", args=[tenant.project.slug, effect.pk])


def page_of(tenant: Tenant, name: str, *args: object) -> str:
    return reverse(name, args=[tenant.project.slug, *args])


def state_of(tenant: Tenant, effect: Effect) -> str:
    with tenant.tx():
        return str(Effect.objects.get(pk=effect.pk).state)


def test_the_empty_effects_page_explains_effects(owner: Client, tenant: Tenant) -> None:
    assert "No effects yet" in owner.get(list_of(tenant)).content.decode()


def test_each_state_is_a_tab_with_its_count(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    for state in (EffectState.DONE, EffectState.DONE, EffectState.FAILED, EffectState.PLANNED, EffectState.SENDING):
        add_effect(tenant, row, state=state)
    tabs = {tab.label: tab.count for tab in owner.get(list_of(tenant)).context["tabs"]}
    assert tabs == {"All": 5, "Unknown": 0, "Held back": 0, "In progress": 2, "Done": 2, "Failed": 1, "Canceled": 0}
    assert len(owner.get(list_of(tenant, "?state=under_way")).context["rows"]) == 2


@pytest.mark.parametrize(
    ("sent", "title"),
    [
        ({}, "Tell kitchen: step 3"),
        ({"request": WEBHOOK}, "Tell kitchen, at kitchen.example: step 3"),
    ],
)
def test_a_webhook_is_titled_by_its_tool_and_what_it_says(
    sent: dict[str, object], title: str, owner: Client, tenant: Tenant
) -> None:
    """One whose worker died has no request. It was “Webhook”, and a todo's ten calls of a tool had one title."""
    arguments = {"headers": {"X-Shop": "Milan"}, "body": {"what": "step 3"}}
    effect = add_effect(
        tenant,
        talk(tenant, "Hi"),
        state=EffectState.UNKNOWN,
        tool="tell_kitchen",
        kind="webhook",
        arguments=arguments,
        **sent,
    )
    assert owner.get(url_of(tenant, effect)).context["title"] == title


def test_an_outbox_effect_shows_as_not_sent(owner: Client, tenant: Tenant) -> None:
    effect = add_effect(tenant, talk(tenant, "Hi"), **OUTBOX)
    assert "Not sent" in owner.get(list_of(tenant)).content.decode()
    text = owner.get(url_of(tenant, effect)).content.decode()
    assert "Unsent request" in text
    assert "See you Friday" in text


def test_a_message_in_the_outbox_can_be_sent_once_a_service_is_connected(owner: Client, tenant: Tenant) -> None:
    effect = add_effect(tenant, talk(tenant, "Hi"), **OUTBOX)
    assert "Send now" not in owner.get(url_of(tenant, effect)).content.decode()
    connect_twilio(tenant, "https://api.twilio.com")
    assert "Send now" in owner.get(url_of(tenant, effect)).content.decode()
    text = owner.post(url_of(tenant, effect), {"answer": "release"}, follow=True).content.decode()
    assert "Released. Running now." in text
    with tenant.tx():
        effect.refresh_from_db()
    assert effect.state == EffectState.PLANNED


AWAITED = "waiting for delivery"


def test_an_effect_shows_that_its_receipt_is_awaited(owner: Client, tenant: Tenant) -> None:
    now = timezone.now()
    effect = add_effect(
        tenant, talk(tenant, "Hi"), receipt="sent", receipt_at=now, receipt_due_at=now + timedelta(hours=24)
    )
    assert AWAITED in owner.get(list_of(tenant)).content.decode()
    assert "without a receipt" in owner.get(url_of(tenant, effect)).content.decode()


@pytest.mark.parametrize(
    ("receipt", "state", "words"),
    [
        ("delivered", EffectState.DONE, "Delivered"),
        ("read", EffectState.DONE, "Read"),
        ("failed", EffectState.FAILED, "Not delivered"),
        ("unknown", EffectState.UNKNOWN, "Unknown whether it arrived"),
    ],
)
def test_an_effect_shows_its_receipt(
    owner: Client, tenant: Tenant, receipt: str, state: EffectState, words: str
) -> None:
    effect = add_effect(tenant, talk(tenant, "Hi"), state=state, receipt=receipt, receipt_at=timezone.now())
    text = owner.get(url_of(tenant, effect)).content.decode()
    assert words in text
    assert AWAITED not in text


def test_an_effect_shows_that_it_needs_approval(owner: Client, tenant: Tenant) -> None:
    asks = {"description": "Sends a text.", "requires_approval": True}
    add_effect(tenant, talk(tenant, "Hi"), state=EffectState.PLANNED, definition=asks, arranged_at=timezone.now())
    assert "Needs approval" in owner.get(list_of(tenant)).content.decode()


def test_an_effect_shows_its_request_and_response(owner: Client, tenant: Tenant) -> None:
    effect = add_effect(
        tenant,
        talk(tenant, "Hi", name="Giulia Ferri"),
        tool="notify_kitchen",
        tool_version=3,
        kind="webhook",
        attempts=2,
        http_status=200,
        request=WEBHOOK,
        excerpt="noted",
    )
    with tenant.tx():
        AfterAction.objects.create(
            effect=effect,
            index=0,
            type="set_persona_attribute",
            options={"attribute": "allergy"},
            state=AfterActionState.DONE,
            value="nuts",
        )
    text = owner.get(url_of(tenant, effect)).content.decode()
    for words in (
        "POST https://kitchen.example/notes",
        "X-Api-Key: ••••",
        "noted",
        "version 3",
        "2 attempts",
        "Giulia Ferri",
        "Set a customer field",
        "Sends a text.",
    ):
        assert words in text


def test_an_effect_that_is_tried_again_says_when(owner: Client, tenant: Tenant) -> None:
    """On its page, in the list of promises, beside the conversation, in the turn and in the API."""
    row = talk(tenant, "Hi")
    effect = add_effect(tenant, row, state=EffectState.PLANNED, attempts=1)
    add_promise(tenant, row, effect=effect)
    at = (timezone.now() + timedelta(hours=3)).replace(microsecond=0)
    with tenant.tx():
        enqueue([retry_job(effect, run_after=at)])
        turn = Turn.objects.get(conversation=row)
        assert [one["next_attempt_at"] for one in turn_payload(turn)["effects"]] == [stamp(at)]
    assert Client(headers=tenant.headers).get(f"/api/v1/effects/{effect.pk}").json()["next_attempt_at"] == stamp(at)
    mark = f'datetime="{at.isoformat()}"'
    for address in (url_of(tenant, effect), page_of(tenant, "promises"), page_of(tenant, "conversation", row.pk)):
        assert mark in owner.get(address).content.decode()


def test_an_effect_that_was_not_tried_says_nothing_of_a_next_attempt(owner: Client, tenant: Tenant) -> None:
    effect = add_effect(tenant, talk(tenant, "Hi"), state=EffectState.PLANNED)
    with tenant.tx():
        enqueue([job_for(effect, run_after=timezone.now() + timedelta(hours=3))])
    assert "Next attempt" not in owner.get(url_of(tenant, effect)).content.decode()


def test_an_unknown_outcome_is_resolved_as_done_or_sent_again(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    happened, lost = (add_effect(tenant, row, state=EffectState.UNKNOWN, attempts=1) for _ in range(2))
    owner.post(url_of(tenant, happened), {"answer": "happened"})
    owner.post(url_of(tenant, lost), {"answer": "not"})
    assert state_of(tenant, happened) == EffectState.DONE
    with tenant.tx():
        assert list(Job.objects.filter(lane="effect").values_list("subject_id", flat=True)) == [lost.pk]


def test_a_held_effect_is_released(owner: Client, tenant: Tenant) -> None:
    effect = add_effect(tenant, talk(tenant, "Hi"), state=EffectState.HELD)
    assert "Release" in owner.get(url_of(tenant, effect)).content.decode()
    text = owner.post(url_of(tenant, effect), {"answer": "release"}, follow=True).content.decode()
    assert "Released. Running now." in text
    with tenant.tx():
        assert Job.objects.filter(lane="effect", subject_id=effect.pk).exists()


def test_a_second_answer_is_refused(owner: Client, tenant: Tenant) -> None:
    effect = add_effect(tenant, talk(tenant, "Hi"), state=EffectState.UNKNOWN)
    owner.post(url_of(tenant, effect), {"answer": "happened"})
    text = owner.post(url_of(tenant, effect), {"answer": "not"}, follow=True).content.decode()
    assert "it is done" in text
    assert state_of(tenant, effect) == EffectState.DONE


def test_the_return_url_must_be_local(owner: Client, tenant: Tenant) -> None:
    effect = add_effect(tenant, talk(tenant, "Hi"), state=EffectState.UNKNOWN)
    back = reverse("promises", args=[tenant.project.slug])
    for wanted, way in (
        (back, back),
        ("https://evil.example/", url_of(tenant, effect)),
        ("//evil.example", url_of(tenant, effect)),
    ):
        answer = owner.post(url_of(tenant, effect), {"answer": "happened", "back": wanted})
        assert answer.headers["Location"] == way


@pytest.mark.parametrize("role", ["operator", "viewer"])
def test_operators_can_answer_and_viewers_cannot(role: str, tenant: Tenant, request: pytest.FixtureRequest) -> None:
    client: Client = browser(request.getfixturevalue(role))
    effect = add_effect(tenant, talk(tenant, "Hi"), state=EffectState.UNKNOWN)
    text = client.get(list_of(tenant)).content.decode()
    assert ("Didn’t happen, send again" in text) is (role == "operator")
    assert client.post(url_of(tenant, effect), {"answer": "happened"}).status_code == (
        302 if role == "operator" else 403
    )


def test_another_tenants_effect_is_not_found(tenant: Tenant, stranger: Tenant) -> None:
    effect = add_effect(tenant, talk(tenant, "Hi"), state=EffectState.UNKNOWN)
    client = browser(stranger.owner)
    for slug in (tenant.project.slug, stranger.project.slug):
        address = reverse("effect", args=[slug, effect.pk])
        assert client.get(address).status_code == client.post(address, {"answer": "happened"}).status_code == 404
    assert state_of(tenant, effect) == EffectState.UNKNOWN


def test_the_sidebar_counts_unknown_outcomes(owner: Client, tenant: Tenant) -> None:
    add_effect(tenant, talk(tenant, "Hi"), state=EffectState.UNKNOWN)
    counts = owner.get(reverse("dashboard", args=[tenant.project.slug])).context["badges"]
    assert (counts["effects"].waiting, counts["promises"].waiting) == (1, 0)


def test_unknown_outcomes_of_another_project_are_not_counted(owner: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    effect = add_effect(tenant, row, state=EffectState.UNKNOWN)
    with tenant.tx():
        other = create_project("Second", config=tenant.project.agent_version.config)
        Effect.objects.filter(pk=effect.pk).update(project_id=other.pk)
    assert owner.get(reverse("dashboard", args=[tenant.project.slug])).context["badges"]["effects"].waiting == 0
