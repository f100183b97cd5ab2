"""The customer's language, and the apology in that language."""

from __future__ import annotations

from uuid import UUID

from django.utils.translation import gettext, override

from conversations.models import Conversation, PersonaField
from projects.widget.languages import customer_language
from tenancy.prepared_queries import PreparedValues

# Every call that rings asks for it.
_LANGUAGE = PreparedValues(
    lambda persona: PersonaField.objects.filter(persona_id=persona, key="language").values_list("value")[:1],
    kinds=(UUID,),
)


def language_of(persona_id: UUID, *, project_id: UUID, asked: str = "") -> str:
    """The customer's language. `asked` is the browser's and is used last. Runs in the tenant's transaction."""
    known = next((value for (value,) in _LANGUAGE(persona_id)), "")
    return customer_language(project_id, known=known, asked=asked)


def apology_for(conversation: Conversation, *, is_permanent: bool = False) -> str:
    """The message sent in place of a reply that failed for good. If the cause is permanent, it doesn't suggest to try
    again.
    """
    with override(language_of(conversation.persona_id, project_id=conversation.project_id)):
        if is_permanent:
            return gettext("Sorry, I can’t reply at the moment. A colleague has been told.")
        return gettext("Sorry, I can’t reply right now. The team has been told. Please try again in a moment.")
