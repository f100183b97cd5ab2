"""Staff's answers about promises over the API, with the rules of the page."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from django.test import Client

from tests.api.conftest import error_of
from tests.conftest import Tenant
from tests.console.pages.conftest import add_effect, add_promise, talk
from tools.models import EffectState, Promise, PromiseState


def answer(api: Client, promise_id: UUID, **body: Any) -> Any:
    return api.post(f"/api/v1/promises/{promise_id}/answer", body, content_type="application/json")


def test_a_key_marks_a_broken_promise_as_kept(api: Client, tenant: Tenant) -> None:
    promise = add_promise(tenant, talk(tenant, "Hi"), state=PromiseState.BROKEN)
    said = answer(api, promise.pk, answer="kept").json()
    assert (said["id"], said["state"], said["reason"]) == (str(promise.pk), "kept", "the key test did it.")
    assert said["closed_at"]


def test_an_open_promise_is_withdrawn_only_once(api: Client, tenant: Tenant) -> None:
    promise = add_promise(tenant, talk(tenant, "Hi"))
    assert answer(api, promise.pk, answer="withdrawn").json()["state"] == "withdrawn"
    error = error_of(answer(api, promise.pk, answer="kept"), status=409)
    assert error["message"] == "This promise is already withdrawn."


@pytest.mark.parametrize("is_text", [True, False])
def test_an_answer_holds_for_the_repetitions_of_a_promise(api: Client, tenant: Tenant, is_text: bool) -> None:
    """Said twice, about one message in the outbox or about work that no tool can do."""
    row = talk(tenant, "Hi")
    effect = add_effect(tenant, row, state=EffectState.DONE) if is_text else None
    first, again, other = (
        add_promise(tenant, row, effect=one, quote=quote)
        for one, quote in ((effect, "I'll do it."), (effect, "I'll do it."), (None, "I'll do another thing."))
    )
    answer(api, again.pk, answer="withdrawn")
    with tenant.tx():
        states = dict(Promise.objects.values_list("pk", "state"))
    assert (states[first.pk], states[again.pk], states[other.pk]) == ("withdrawn", "withdrawn", "open")


def test_a_promise_with_an_effect_in_progress_cannot_be_answered(api: Client, tenant: Tenant) -> None:
    row = talk(tenant, "Hi")
    promise = add_promise(tenant, row, effect=add_effect(tenant, row, state=EffectState.SENDING))
    error = error_of(answer(api, promise.pk, answer="kept"), status=409)
    assert error["message"] == "The promise’s effect isn’t finished yet and decides the outcome."
    with tenant.tx():
        assert Promise.objects.get(pk=promise.pk).state == PromiseState.OPEN


@pytest.mark.parametrize("body", [{}, {"answer": "broken"}, {"answer": "kept", "by": "me"}])
def test_another_answer_is_refused(body: dict[str, str], api: Client, tenant: Tenant) -> None:
    promise = add_promise(tenant, talk(tenant, "Hi"))
    assert answer(api, promise.pk, **body).status_code == 400


def test_an_unknown_promise_is_not_found(api: Client, tenant: Tenant) -> None:
    error_of(answer(api, uuid4(), answer="kept"), status=404)
