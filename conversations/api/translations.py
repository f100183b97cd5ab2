"""Translations of a conversation, for staff."""

from __future__ import annotations

from typing import TypedDict
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from conversations.api.assist import LONGEST_ANSWER, MODEL_FAILED, model_failed
from conversations.api.operators import OperatorView
from conversations.assist.translation import (
    AnswerInput,
    TranslationInput,
    count_untranslated,
    prepare_answer,
    prepare_translations,
    translate_answer,
    translate_messages,
    translations_of,
)
from llm.errors import LlmError
from projects.api.async_views import Continued, continues
from projects.api.serializers import StrictSerializer, TextField
from projects.common.presenters import Id
from tenancy.scope import tenant_tx
from tenancy.threads import in_db


class LanguageInput(StrictSerializer):
    language = serializers.RegexField(r"^[a-z]{2,3}$", help_text="the code of the language to translate into")


class AnswerToTranslate(StrictSerializer):
    content = TextField(longest=LONGEST_ANSWER)


class TranslationPayload(TypedDict):
    message: Id
    content: str


class TranslationsPayload(TypedDict):
    """`left` is the number of messages that are not translated yet."""

    language: str
    translations: list[TranslationPayload]
    left: int


class TranslatedAnswerPayload(TypedDict):
    language: str
    content: str


class Translations(OperatorView):
    @extend_schema(
        operation_id="conversations_translate",
        request=LanguageInput,
        responses={200: TranslationsPayload, 502: MODEL_FAILED},
    )
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Translates the messages of everyone in the conversation, the newest first. Returns all translations so far.

        A message is translated once per language. While `left` isn't 0, call again.
        """
        language = self.valid(LanguageInput)["language"]
        return Continued(prepare_translations(self.bare_conversation(conversation_id), language=language))


@continues(Translations)
async def translate(request: HttpRequest, served: Continued[TranslationInput]) -> HttpResponseBase:
    """Ask the model, with no transaction open, and return what is stored."""
    try:
        await translate_messages(served.state)
    except LlmError as error:
        return model_failed(request, error)
    return served.json(await in_db(_translations, served.state))


def _translations(prepared: TranslationInput) -> TranslationsPayload:
    conversation_id, language = prepared.owner.conversation_id, prepared.language
    with tenant_tx(prepared.owner.organization_id):
        known = translations_of(conversation_id, language=language)
        return {
            "language": language,
            "translations": [{"message": str(message), "content": content} for message, content in known.items()],
            "left": count_untranslated(conversation_id, language=language),
        }


class AnswerTranslation(OperatorView):
    @extend_schema(
        operation_id="conversations_translate_answer",
        request=AnswerToTranslate,
        responses={200: TranslatedAnswerPayload, 502: MODEL_FAILED},
    )
    def post(self, request: Request, conversation_id: UUID) -> Response:
        """Translates staff's answer into the customer's language. Nothing is sent or stored.

        The code is `language_unknown` while the customer's language isn't known.
        """
        content = self.valid(AnswerToTranslate)["content"]
        return Continued(prepare_answer(self.bare_conversation(conversation_id), content))


@continues(AnswerTranslation)
async def translate_answer_view(request: HttpRequest, served: Continued[AnswerInput]) -> HttpResponseBase:
    """Ask the model, with no transaction open."""
    try:
        content = await translate_answer(served.state)
    except LlmError as error:
        return model_failed(request, error)
    answer: TranslatedAnswerPayload = {"language": served.state.language, "content": content}
    return served.json(answer)
