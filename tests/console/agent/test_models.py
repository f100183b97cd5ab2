"""The project's own model: URL, key and test."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.db import connection
from django.test import Client
from django.urls import reverse

from console.agent import model_test
from console.agent.forms.models import SKILLS
from projects.agents import model_check
from projects.agents.model_choice import KEY_ATTRIBUTE, endpoint_of
from projects.models import Attribute, User
from projects.models.attribute import AttributeType
from projects.records.attributes import fill_row, read_secret
from tests.console.agent.conftest import Settings
from tests.processes import ScriptedModel

OURS, ELSEWHERE = "https://models.example/v1", "https://elsewhere.example/v1"
SECRET = "sk-canary-of-the-model"


@pytest.fixture
def with_key(owner: Settings) -> Settings:
    owner.publish_change("models", model_base_url=OURS, model_api_key=SECRET, shared_model="large")
    return owner


def stored_key(settings: Settings) -> str | None:
    with settings.tenant.tx():
        return read_secret(settings.tenant.project, KEY_ATTRIBUTE)


def test_a_key_is_stored_and_never_shown(with_key: Settings) -> None:
    assert stored_key(with_key) == SECRET
    pages = [with_key.page(section) for section in ("models", "attributes", "history")]
    assert not [page for page in pages if SECRET in page]
    assert SECRET not in str(with_key.document)


def test_an_empty_key_keeps_the_stored_one(with_key: Settings) -> None:
    with_key.change("models", models__reply__use="own", models__reply__name="large")
    assert stored_key(with_key) == SECRET


def test_a_stored_key_can_be_removed(with_key: Settings) -> None:
    with_key.change("models", remove_key="yes")
    assert stored_key(with_key) is None


def test_a_stored_key_is_not_sent_to_a_new_url(with_key: Settings) -> None:
    """Otherwise whoever may change the URL could send the key to their own server."""
    response = with_key.change("models", model_base_url=ELSEWHERE)
    assert "The stored key is for another address" in response.content.decode()
    assert with_key.document["model_base_url"] == OURS
    assert with_key.change("models", model_base_url=ELSEWHERE, model_api_key="sk-other").status_code == 302


def test_restoring_another_url_does_not_reuse_the_key(with_key: Settings) -> None:
    with_key.publish_change("models", model_base_url=ELSEWHERE, model_api_key="sk-other")
    with_key.client.post(with_key.address("history"), {"restore": "3", "started_from": "5"})
    assert (with_key.document["model_base_url"], stored_key(with_key)) == (ELSEWHERE, "sk-other")


def test_an_undecryptable_key_can_be_replaced(with_key: Settings, settings: Any) -> None:
    """After the encryption key is lost, the page says so, sends nothing, and accepts a new key."""
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    said = "The stored key can’t be decrypted"
    assert said in with_key.page("models")
    answer = try_it(with_key)
    assert (answer["ok"], "Enter it again under Configuration, Models." in answer["sentence"]) == (False, True)
    assert with_key.change("models", model_api_key="sk-new").status_code == 302
    assert said not in with_key.page("models")
    assert stored_key(with_key) == "sk-new"


@pytest.fixture
def organizations_key(with_key: Settings) -> str:
    """An organization-wide key next to the project's own."""
    with with_key.tenant.tx():
        row = Attribute(project=None, key=KEY_ATTRIBUTE, type=AttributeType.SECRET)
        fill_row(row, "sk-of-the-organization")
        row.save()
    return "sk-of-the-organization"


@pytest.mark.usefixtures("organizations_key")
def test_the_organizations_key_is_not_sent_to_a_projects_url(with_key: Settings) -> None:
    """Otherwise whoever chose the URL could read the organization's key there."""
    assert with_key.change("models", remove_key="yes").status_code == 302
    live = with_key.live.config
    with with_key.tenant.tx():
        assert endpoint_of(with_key.tenant.project, live).api_key == ""
    with_key.publish_change("models", model_base_url=ELSEWHERE)
    live = with_key.live.config
    with with_key.tenant.tx():
        endpoint = endpoint_of(with_key.tenant.project, live)
    assert (endpoint.base_url, endpoint.api_key) == (ELSEWHERE, "")


def test_the_api_removes_a_key_without_a_fallback(with_key: Settings, api: Client) -> None:
    assert api.delete(f"/api/v1/attributes/{KEY_ATTRIBUTE}").status_code == 204
    assert stored_key(with_key) is None


def test_a_key_is_always_stored_as_a_secret(owner: Settings, api: Client) -> None:
    """Never shown, and never stored as plain text."""
    address = f"/api/v1/attributes/{KEY_ATTRIBUTE}"
    answer = api.put(address, {"value": SECRET}, content_type="application/json").json()
    assert (answer["type"], answer["value"], stored_key(owner)) == ("secret", None, SECRET)
    refused = api.put(address, {"value": "sk-other", "type": "str"}, content_type="application/json")
    assert "its type must be secret, not str" in refused.json()["error"]["message"]
    assert stored_key(owner) == SECRET


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel", "x" * 501])
def test_an_invalid_key_is_refused(key: str, owner: Settings) -> None:
    assert owner.change("models", model_base_url=OURS, model_api_key=key).status_code == 422
    assert len(owner.versions) == 1


def test_a_key_without_a_server_is_refused_at_the_url(owner: Settings) -> None:
    """Otherwise a key is stored that nothing uses."""
    page = owner.change("models", model_api_key=SECRET)
    assert page.status_code == 422
    assert 'aria-invalid="true" aria-describedby="model_base_url-error"' in page.content.decode()
    assert stored_key(owner) is None


def test_one_model_serves_every_task_without_its_own(owner: Settings) -> None:
    owner.change("models", shared_model="large", models__detect__use="own", models__detect__name="small")
    assert owner.document["models"] == {skill: "small" if skill == "detect" else "large" for skill in SKILLS}
    form = owner.form("models")
    assert (form["shared_model"], form["models.reply.use"], form["models.detect.name"]) == ("large", "default", "small")


def test_a_server_in_place_of_the_offline_model_needs_models(owner: Settings, settings: Any) -> None:
    """The names of the offline model exist on no other server."""
    settings.OFFLINE_MODEL = True
    assert 'id="shared_model-error"' in owner.change("models", model_base_url=OURS).content.decode()
    assert owner.change("models", model_base_url=OURS, shared_model="large").status_code == 302


def post_trial(settings: Settings, **changes: str) -> Any:
    form = {name.replace("__", "."): value for name, value in changes.items()}
    url = reverse("agent_model_test", args=[settings.tenant.project.slug])
    posted = {**settings.form("models"), "test": "reply", **form}
    return settings.client.post(url, posted, headers={"Accept": "application/json"})


def try_it(settings: Settings, **changes: str) -> dict[str, Any]:
    return post_trial(settings, **changes).json()


@pytest.fixture
def operators_model(model: ScriptedModel, settings: Any) -> ScriptedModel:
    settings.OPENAI_BASE_URL = model.base_url
    return model


def test_a_successful_test_reports_the_duration(owner: Settings, operators_model: ScriptedModel) -> None:
    answer = try_it(owner, models__reply__use="own", models__reply__name="typed-and-not-saved")
    assert answer["ok"]
    assert answer["sentence"].startswith("typed-and-not-saved answered in 0.")
    assert [request["model"] for request in operators_model.requests()] == ["typed-and-not-saved"]
    assert len(owner.versions) == 1


def test_an_unknown_model_is_reported(owner: Settings, operators_model: ScriptedModel) -> None:
    operators_model.script("reply", fault="404")
    answer = try_it(owner, models__reply__use="own", models__reply__name="gpt-9")
    assert not answer["ok"]
    assert "gpt-9 didn’t answer. The model endpoint answered 404" in answer["sentence"]


def test_private_addresses_are_not_called(owner: Settings, operators_model: ScriptedModel) -> None:
    answer = try_it(owner, model_base_url=operators_model.base_url)
    assert "this machine" in answer["sentence"] or "private network" in answer["sentence"]
    assert operators_model.requests() == []


def test_a_test_does_not_send_the_stored_key_to_a_new_url(with_key: Settings) -> None:
    answer = try_it(with_key, model_base_url=ELSEWHERE)
    assert answer == {"ok": False, "sentence": "The stored key is for another address. Enter the key for this one."}


def test_no_database_connection_is_held_during_the_test(
    owner: Settings, operators_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []

    async def ask(client: Any, model: Any) -> model_check.ModelCheck:
        held.append(connection.in_atomic_block)
        return model_check.ModelCheck(True, "ok")

    monkeypatch.setattr(model_check, "_ask", ask)
    try_it(owner)
    assert held == [False]


def test_without_javascript_the_page_shows_the_result(owner: Settings, operators_model: ScriptedModel) -> None:
    url = reverse("agent_model_test", args=[owner.tenant.project.slug])
    form = {**owner.form("models"), "models.reply.use": "own", "models.reply.name": "mine"}
    page = owner.client.post(url, {**form, "test": "reply"}).content.decode()
    assert "mine answered in" in page
    assert 'value="mine"' in page


def test_model_tests_are_rate_limited_per_project(
    owner: Settings, operators_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Uses the real bucket in Redis. A refused test says when to retry and makes no model call."""
    monkeypatch.setattr(model_test, "TRIALS_PER_MINUTE", 1)
    assert try_it(owner)["ok"]
    response = post_trial(owner)
    assert (response.status_code, response.headers["Retry-After"]) == (429, response.json()["sentence"].split()[-2])
    assert "Limit of 1 tests per minute reached. Try again in" in response.json()["sentence"]
    assert len(operators_model.requests()) == 1


def test_viewers_cannot_test_models(owner: Settings, viewer: User) -> None:
    client = Client()
    client.force_login(viewer)
    assert client.post(reverse("agent_model_test", args=[owner.tenant.project.slug])).status_code == 403
