"""The project's own model: its address, its key, and the button that tries it."""

from __future__ import annotations

from typing import Any

import pytest
from cryptography.fernet import Fernet
from django.db import connection
from django.test import Client
from django.urls import reverse

from console.agent import model_test
from projects.agents import model_check
from projects.agents.model_choice import KEY_ATTRIBUTE
from projects.models import Attribute, User
from projects.models.attribute import AttributeType
from projects.records.attributes import fill_row, read_secret
from tests.console.agent.conftest import Settings
from tests.processes import ScriptedModel

OURS, ELSEWHERE = "https://models.example/v1", "https://elsewhere.example/v1"
SECRET = "sk-canary-of-the-model"


@pytest.fixture
def with_key(owner: Settings) -> Settings:
    owner.change("models", model_base_url=OURS, model_api_key=SECRET)
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


def test_a_stored_key_goes_to_no_new_address(with_key: Settings) -> None:
    """Whoever may change the address could read the key at a server of their own."""
    response = with_key.change("models", model_base_url=ELSEWHERE)
    assert "The stored key is for another address" in response.content.decode()
    assert with_key.document["model_base_url"] == OURS
    assert with_key.change("models", model_base_url=ELSEWHERE, model_api_key="sk-other").status_code == 302


def test_a_restored_version_brings_no_other_address_back_to_a_key(with_key: Settings) -> None:
    with_key.change("models", model_base_url=ELSEWHERE, model_api_key="sk-other")
    with_key.client.post(with_key.address("history"), {"restore": "2", "started_from": "3"})
    assert (with_key.document["model_base_url"], stored_key(with_key)) == (ELSEWHERE, "sk-other")


def test_a_key_that_no_key_opens_any_more_is_written_again(with_key: Settings, settings: Any) -> None:
    """After the operator's key was lost the page opens and says so, tries nothing, and takes a new one."""
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]
    said = "The stored key can’t be read any more"
    assert said in with_key.page("models")
    answer = try_it(with_key)
    assert (answer["ok"], "Enter it again under Configuration, Models." in answer["sentence"]) == (False, True)
    assert with_key.change("models", model_api_key="sk-new").status_code == 302
    assert said not in with_key.page("models")
    assert stored_key(with_key) == "sk-new"


@pytest.fixture
def organizations_key(with_key: Settings) -> str:
    """A key for all projects, stored beside the project's own."""
    with with_key.tenant.tx():
        row = Attribute(project=None, key=KEY_ATTRIBUTE, type=AttributeType.SECRET)
        fill_row(row, "sk-of-the-organization")
        row.save()
    return "sk-of-the-organization"


@pytest.mark.usefixtures("organizations_key")
def test_without_the_projects_key_the_organizations_goes_to_no_address_of_the_projects(
    with_key: Settings, api: Client
) -> None:
    """Whoever chose the address, and wrote a key of their own for it, could read the organization's there."""
    refused = with_key.change("models", remove_key="yes")
    assert "Your organization has a key for another address" in refused.content.decode()
    assert api.delete(f"/api/v1/attributes/{KEY_ATTRIBUTE}").status_code == 409
    with_key.change("attributes", unset=KEY_ATTRIBUTE)
    assert stored_key(with_key) == SECRET
    assert with_key.change("models", model_base_url="", remove_key="yes").status_code == 302


def test_the_api_removes_a_key_that_no_other_stands_behind(with_key: Settings, api: Client) -> None:
    assert api.delete(f"/api/v1/attributes/{KEY_ATTRIBUTE}").status_code == 204
    assert stored_key(with_key) is None


def test_a_key_is_a_secret_however_it_is_written(owner: Settings, api: Client) -> None:
    """It is never shown, and never stored as a text."""
    address = f"/api/v1/attributes/{KEY_ATTRIBUTE}"
    answer = api.put(address, {"value": SECRET}, content_type="application/json").json()
    assert (answer["type"], answer["value"], stored_key(owner)) == ("secret", None, SECRET)
    refused = api.put(address, {"value": "sk-other", "type": "str"}, content_type="application/json")
    assert "its type must be secret, not str" in refused.json()["error"]["message"]
    assert stored_key(owner) == SECRET


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel", "x" * 501])
def test_a_key_that_is_none_is_refused(key: str, owner: Settings) -> None:
    assert owner.change("models", model_base_url=OURS, model_api_key=key).status_code == 422
    assert len(owner.versions) == 1


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


def test_a_model_that_answers_says_how_long_it_took(owner: Settings, operators_model: ScriptedModel) -> None:
    answer = try_it(owner, models__reply__use="own", models__reply__name="typed-and-not-saved")
    assert answer["ok"]
    assert answer["sentence"].startswith("typed-and-not-saved answered in 0.")
    assert [request["model"] for request in operators_model.requests()] == ["typed-and-not-saved"]
    assert len(owner.versions) == 1


def test_a_model_that_the_endpoint_does_not_know_is_told(owner: Settings, operators_model: ScriptedModel) -> None:
    operators_model.script("reply", fault="404")
    answer = try_it(owner, models__reply__use="own", models__reply__name="gpt-9")
    assert not answer["ok"]
    assert "gpt-9 didn’t answer. The model endpoint answered 404" in answer["sentence"]


def test_a_private_address_is_not_called(owner: Settings, operators_model: ScriptedModel) -> None:
    answer = try_it(owner, model_base_url=operators_model.base_url)
    assert "this machine" in answer["sentence"] or "private network" in answer["sentence"]
    assert operators_model.requests() == []


def test_a_stored_key_is_tried_at_no_new_address(with_key: Settings) -> None:
    answer = try_it(with_key, model_base_url=ELSEWHERE)
    assert answer == {"ok": False, "sentence": "The stored key is for another address. Enter the key for this one."}


def test_no_connection_is_held_while_the_model_is_asked(
    owner: Settings, operators_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[bool] = []

    async def ask(client: Any, model: Any) -> model_check.ModelCheck:
        held.append(connection.in_atomic_block)
        return model_check.ModelCheck(True, "ok")

    monkeypatch.setattr(model_check, "_ask", ask)
    try_it(owner)
    assert held == [False]


def test_without_the_script_the_page_says_how_it_went(owner: Settings, operators_model: ScriptedModel) -> None:
    url = reverse("agent_model_test", args=[owner.tenant.project.slug])
    form = {**owner.form("models"), "models.reply.use": "own", "models.reply.name": "mine"}
    page = owner.client.post(url, {**form, "test": "reply"}).content.decode()
    assert "mine answered in" in page
    assert 'value="mine"' in page


def test_a_project_may_try_so_many_models_a_minute(
    owner: Settings, operators_model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the real bucket, in Redis. Who may not try is told in a sentence when to come back, and no model is asked."""
    monkeypatch.setattr(model_test, "TRIALS_PER_MINUTE", 1)
    assert try_it(owner)["ok"]
    response = post_trial(owner)
    assert (response.status_code, response.headers["Retry-After"]) == (429, response.json()["sentence"].split()[-2])
    assert "A project tries models at most 1 times a minute. Try again in" in response.json()["sentence"]
    assert len(operators_model.requests()) == 1


def test_a_viewer_tries_no_model(owner: Settings, viewer: User) -> None:
    client = Client()
    client.force_login(viewer)
    assert client.post(reverse("agent_model_test", args=[owner.tenant.project.slug])).status_code == 403
