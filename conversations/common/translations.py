"""What the product itself says to customers, in their language: one table, of the languages that the widget knows (W03).

The widget has the lines about colleagues as well (static/widget/words.js), because it knows the page's language too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from conversations.live.event_log import ConversationLog
from conversations.models import Conversation, Message, MessageRole, PersonaField
from projects.models import Widget

ENGLISH = "en"
NOTICE = "notice"


class Notice(StrEnum):
    """A line of the product's own: a colleague was asked for, has come, is gone."""

    ASKED = "asked"
    JOINED = "joined"
    LEFT = "left"


# Each notice as the log calls it.
IDNS = {Notice.ASKED: "person_requested", Notice.JOINED: "operator_joined", Notice.LEFT: "operator_left"}


@dataclass(frozen=True)
class Words:
    """One language. `apology` is said when no reply could be written; `one` stands where a colleague has no name to show."""

    apology: str
    one: str
    asked: str
    joined: str
    left: str


WORDS: Mapping[str, Words] = {
    "en": Words(
        apology="Sorry, I can't answer right now. I've let the team know; write again in a moment and I'll try once more.",
        one="A colleague",
        asked="A colleague was asked to join.",
        joined="{who} has joined the conversation.",
        left="{who} has left the conversation.",
    ),
    "it": Words(
        apology="Mi dispiace, ora non riesco a rispondere. Ho avvisato il team; riscrivimi tra poco e ci riprovo.",
        one="Un collega",
        asked="È stato chiamato un collega.",
        joined="{who} si è unito alla conversazione.",
        left="{who} ha lasciato la conversazione.",
    ),
    "de": Words(
        apology="Entschuldigung, ich kann gerade nicht antworten. Das Team weiß Bescheid; schreiben Sie gleich noch einmal.",
        one="Ein Kollege",
        asked="Ein Kollege wurde gerufen.",
        joined="{who} ist dazugekommen.",
        left="{who} ist gegangen.",
    ),
    "fr": Words(
        apology="Désolé, je ne peux pas répondre pour l'instant. L'équipe est prévenue ; réécrivez-moi dans un moment.",
        one="Un collègue",
        asked="Un collègue a été appelé.",
        joined="{who} a rejoint la conversation.",
        left="{who} a quitté la conversation.",
    ),
    "es": Words(
        apology="Lo siento, ahora no puedo responder. He avisado al equipo; escríbeme otra vez en un momento.",
        one="Un compañero",
        asked="Se ha avisado a un compañero.",
        joined="{who} se ha unido a la conversación.",
        left="{who} ha dejado la conversación.",
    ),
    "pt": Words(
        apology="Desculpe, não consigo responder agora. Já avisei a equipe; escreva de novo daqui a pouco e tento outra vez.",
        one="Um colega",
        asked="Um colega foi chamado.",
        joined="{who} entrou na conversa.",
        left="{who} saiu da conversa.",
    ),
    "nl": Words(
        apology="Sorry, ik kan nu niet antwoorden. Het team weet ervan; schrijf zo nog eens, dan probeer ik het opnieuw.",
        one="Een collega",
        asked="Er is een collega gevraagd.",
        joined="{who} is erbij gekomen.",
        left="{who} is weggegaan.",
    ),
    "ar": Words(
        apology="عذرًا، لا أستطيع الرد الآن. أبلغت الفريق؛ اكتب مرة أخرى بعد قليل وسأحاول من جديد.",
        one="أحد زملائنا",
        asked="طُلب من أحد زملائنا الانضمام.",
        joined="انضم {who} إلى المحادثة.",
        left="غادر {who} المحادثة.",
    ),
    "he": Words(
        apology="סליחה, אני לא יכול לענות כרגע. הצוות יודע; כתבו שוב בעוד רגע ואנסה שוב.",
        one="עמית מהצוות",
        asked="עמית מהצוות התבקש להצטרף.",
        joined="{who} הצטרף לשיחה.",
        left="{who} יצא מהשיחה.",
    ),
}


def words_in(language: str) -> Words:
    """The words of a language code such as `it-CH`; English for one that there are none of."""
    return WORDS.get(language.lower().partition("-")[0], WORDS[ENGLISH])


def words_for(conversation: Conversation) -> Words:
    """In the language that is known of the customer, else in that which the business chose for its widget."""
    field = PersonaField.objects.filter(persona_id=conversation.persona_id, key="language").first()
    if field is not None:
        return words_in(field.value)
    themes = Widget.objects.filter(project_id=conversation.project_id).values_list("theme", flat=True)
    return words_in(str((themes.first() or {}).get("language") or ENGLISH))


def add_notice(log: ConversationLog, notice: Notice, *, who: str = "") -> Message:
    """Tell the customer of a colleague, whose name to show may be unknown. The block says the same to programs."""
    words = words_for(log.conversation)
    # A name may hold braces, and is no template.
    text = str(getattr(words, notice)).replace("{who}", who or words.one)
    block = {"type": NOTICE, "notice": notice.value, "who": who}
    return log.add_message(MessageRole.SYSTEM, text, turn=None, idn=IDNS[notice], blocks=[block])
