"""Translations between the customer's language and staff's. A message is translated once per language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from conversations.assist.model import CallOwner, ask_model, owner_of
from conversations.models import Conversation, Message, MessageRole, MessageTranslation, PersonaField
from conversations.prompts.translate import MODEL_OF, Translated, build_request
from llm.errors import SchemaMismatch
from llm.types import ChatRequest
from projects.agents.model_choice import model_for
from projects.common.api_error import Conflict
from projects.common.translation import lazy
from projects.models import Project
from tenancy.prepared_queries import PreparedValues
from tenancy.scope import tenant_tx
from tenancy.threads import in_db
from tools.engine.limits.model_budget import refuse_if_spent

# Messages of one call, and their length; the next call goes on.
MOST_MESSAGES, MOST_CHARACTERS = 20, 6_000
NO_MODEL = lazy("Translation needs a language model. Connect one under Configuration, Models.")
NO_LANGUAGE = lazy("The customer’s language isn’t known yet. It is learned from what they write.")


@dataclass(frozen=True)
class TranslationInput:
    """Messages to translate. `request` is None if there are none."""

    owner: CallOwner
    language: str
    messages: Sequence[UUID]
    request: ChatRequest | None


@dataclass(frozen=True)
class AnswerInput:
    """Staff's answer to translate into the customer's language."""

    owner: CallOwner
    language: str
    request: ChatRequest


def customer_language_code(conversation: Conversation) -> str:
    """The code of the language that the customer writes, or "" if it isn't known."""
    found = _LANGUAGES(conversation.persona_id)
    return (found[0][0] if found else "").split("-")[0].lower()


_LANGUAGES = PreparedValues(
    lambda persona: (
        PersonaField.objects.filter(persona_id=persona, key="language").order_by("pk").values_list("value")[:1]
    ),
    kinds=(UUID,),
)


def prepare_translations(conversation: Conversation, *, language: str) -> TranslationInput:
    """The newest messages without a translation. Raises Conflict without a model or budget."""
    left = _untranslated(conversation.pk, language=language).order_by("-seq").values_list("pk", "content")
    chosen = _within_limits(list(left[:MOST_MESSAGES]))
    if not chosen:
        return TranslationInput(owner_of(conversation), language, (), None)
    request = _request(conversation.project, [content for _, content in chosen], language=language)
    return TranslationInput(owner_of(conversation), language, [pk for pk, _ in chosen], request)


async def translate_messages(prepared: TranslationInput) -> None:
    """Translate and store. Of two concurrent calls the first is kept. No transaction may be open. Raises LlmError."""
    if prepared.request is not None:
        translated = await ask_model(prepared.request, output=Translated, owner=prepared.owner)
        await in_db(_store, prepared, translated)


def count_untranslated(conversation_id: UUID, *, language: str) -> int:
    """The number of messages without a translation."""
    return _untranslated(conversation_id, language=language).count()


def _untranslated(conversation_id: UUID, *, language: str) -> QuerySet[Message]:
    """Messages of the customer, the agent and staff that are not translated yet."""
    said = Message.objects.filter(conversation_id=conversation_id).exclude(role=MessageRole.SYSTEM).exclude(content="")
    done = MessageTranslation.objects.filter(message__conversation_id=conversation_id, language=language)
    return said.exclude(pk__in=done.values("message_id"))


def translations_of(conversation_id: UUID, *, language: str) -> dict[UUID, str]:
    """The stored translations by message."""
    rows = MessageTranslation.objects.filter(message__conversation_id=conversation_id, language=language)
    return dict(rows.values_list("message_id", "content"))


def prepare_answer(conversation: Conversation, content: str) -> AnswerInput:
    """The translation of staff's answer into the customer's language. Raises Conflict."""
    language = customer_language_code(conversation)
    if not language:
        raise Conflict(NO_LANGUAGE, code="language_unknown")
    request = _request(conversation.project, [content], language=language)
    return AnswerInput(owner_of(conversation), language, request)


async def translate_answer(prepared: AnswerInput) -> str:
    """The translated answer. No transaction may be open. Raises LlmError."""
    translated = await ask_model(prepared.request, output=Translated, owner=prepared.owner)
    if not translated.texts:
        raise SchemaMismatch
    return translated.texts[0].text


def _request(project: Project, contents: Sequence[str], *, language: str) -> ChatRequest:
    config = project.agent_version.config
    if settings.OFFLINE_MODEL and not config.model_base_url:
        raise Conflict(NO_MODEL, code="no_model")
    refuse_if_spent(project)
    return build_request(contents, language=language, model=model_for(project, config, MODEL_OF))


def _within_limits(messages: Sequence[tuple[UUID, str]]) -> list[tuple[UUID, str]]:
    """The newest messages that fit one call, at least one, oldest first."""
    chosen, room = list[tuple[UUID, str]](), MOST_CHARACTERS
    for pk, content in messages:
        room -= len(content)
        if chosen and room < 0:
            break
        chosen.append((pk, content))
    return chosen[::-1]


def _store(prepared: TranslationInput, translated: Translated) -> None:
    texts = {one.number: one.text for one in translated.texts}
    with tenant_tx(prepared.owner.organization_id):
        # A customer may have been erased meanwhile.
        left = set(Message.objects.filter(pk__in=prepared.messages).values_list("pk", flat=True))
        rows = [
            MessageTranslation(message_id=pk, language=prepared.language, content=texts[number])
            for number, pk in enumerate(prepared.messages, 1)
            if number in texts and pk in left
        ]
        MessageTranslation.objects.bulk_create(rows, ignore_conflicts=True)
