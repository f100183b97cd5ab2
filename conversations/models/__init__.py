"""Who talks, what was said, and everything that happened."""

from conversations.models.conversation import Channel, Conversation, ConversationStatus
from conversations.models.directives import Directives
from conversations.models.event import Event
from conversations.models.message import Message, MessageRole
from conversations.models.persona import Persona, PersonaField
from conversations.models.turn import Freshness, Turn, TurnStatus

__all__ = [
    "Channel",
    "Conversation",
    "ConversationStatus",
    "Directives",
    "Event",
    "Freshness",
    "Message",
    "MessageRole",
    "Persona",
    "PersonaField",
    "Turn",
    "TurnStatus",
]
