"""Translations for staff: each message once per language, answers on demand, and never without a real model."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from conversations.models import Conversation, Message, MessageTranslation
from tests.conftest import Tenant
from tests.console.pages.conftest import talk
from tests.processes import ScriptedModel

JSON = {"content_type": "application/json"}


@pytest.fixture(autouse=True)
def asked_model(settings: Any, model: ScriptedModel) -> None:
    settings.OPENAI_BASE_URL, settings.OFFLINE_MODEL = model.base_url, False


def translated(*texts: str) -> str:
    return json.dumps({"texts": [{"number": number, "text": text} for number, text in enumerate(texts, 1)]})


def translate(api: Client, conversation: Conversation, language: str = "en") -> Any:
    return api.post(f"/api/v1/conversations/{conversation.pk}/translations", {"language": language}, **JSON)


def translate_answer(api: Client, conversation: Conversation, content: str) -> Any:
    return api.post(f"/api/v1/conversations/{conversation.pk}/translations/answer", {"content": content}, **JSON)


def test_the_customers_messages_are_translated_once(tenant: Tenant, api: Client, model: ScriptedModel) -> None:
    row = talk(tenant, "Guten Abend", "Ist offen?")
    model.script("translate", text=translated("Good evening", "Is it open?"))
    first, second = translate(api, row).json(), translate(api, row).json()
    assert sorted(one["content"] for one in first["translations"]) == ["Good evening", "Is it open?"]
    assert (first["left"], second) == (0, first)
    assert len(model.requests("translate")) == 1


def test_what_the_agent_and_staff_said_is_translated_too(tenant: Tenant, api: Client, model: ScriptedModel) -> None:
    row = talk(tenant, "Ist offen?")
    with tenant.tx():
        for seq, (role, content) in enumerate((("agent", "Ja."), ("operator", "Bis elf."), ("system", "Look")), 2):
            Message.objects.create(conversation=row, seq=seq, role=role, content=content)
    model.script("translate", text=translated("Is it open?", "Yes.", "Until eleven."))
    answer = translate(api, row).json()
    assert sorted(one["content"] for one in answer["translations"]) == ["Is it open?", "Until eleven.", "Yes."]
    assert answer["left"] == 0


def test_a_message_that_the_model_left_out_is_left(tenant: Tenant, api: Client, model: ScriptedModel) -> None:
    row = talk(tenant, "Guten Abend", "Ist offen?")
    model.script("translate", text=translated("Good evening"))
    answer = translate(api, row).json()
    assert ([one["content"] for one in answer["translations"]], answer["left"]) == (["Good evening"], 1)


def test_each_language_has_its_own_translations(tenant: Tenant, api: Client, model: ScriptedModel) -> None:
    row = talk(tenant, "Guten Abend")
    for language, text in (("en", "Good evening"), ("it", "Buona sera")):
        model.script("translate", text=translated(text))
        assert [one["content"] for one in translate(api, row, language).json()["translations"]] == [text]


def test_an_answer_is_translated_into_the_customers_language(tenant: Tenant, api: Client, model: ScriptedModel) -> None:
    row = talk(tenant, "Ist offen?", language="de")
    model.script("translate", text=translated("Ja, bis elf."))
    answer = translate_answer(api, row, "Yes, until eleven.")
    assert answer.json() == {"language": "de", "content": "Ja, bis elf."}
    with tenant.tx():
        assert Message.objects.filter(conversation=row).count() == 1
        assert not MessageTranslation.objects.exists()


def test_without_a_known_language_no_answer_is_translated(tenant: Tenant, api: Client, model: ScriptedModel) -> None:
    refused = translate_answer(api, talk(tenant, "?"), "Yes")
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "language_unknown")
    assert model.requests() == []


def test_the_offline_model_translates_nothing(tenant: Tenant, api: Client, model: ScriptedModel, settings: Any) -> None:
    settings.OFFLINE_MODEL = True
    refused = translate(api, talk(tenant, "Guten Abend"))
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "no_model")
    assert model.requests() == []


def test_a_language_is_a_code(tenant: Tenant, api: Client) -> None:
    assert translate(api, talk(tenant, "Guten Abend"), "German, please").status_code == 400
