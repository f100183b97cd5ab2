"""The product's own messages to customers, in their language."""

from __future__ import annotations

import pytest

from conversations.handover import operators
from conversations.turns.services import give_fields
from projects.models import User, Widget
from tests.conversations.handover.conftest import offer
from tests.conversations.handover.test_requests import ask
from tests.conversations.tool_runs.turns import Turns


def told(turns: Turns) -> list[str]:
    return [message.content for message in turns.messages() if message.role == "system"]


def come_and_go(turns: Turns, by: User) -> None:
    with turns.tenant.tx():
        operators.take_over(turns.conversation.pk, by=by)
        operators.hand_back(turns.conversation.pk, by=by)


def test_notices_are_in_the_customers_language(turns: Turns, lucia: User) -> None:
    asked = offer(turns)["escalation"]
    with turns.tenant.tx():
        give_fields(turns.conversation.persona, {"language": "it-CH"})
    ask(turns, asked, email="a@b.example")
    come_and_go(turns, lucia)
    assert told(turns) == [
        "È stato chiamato un collega.",
        "Lucia ora è nella conversazione.",
        "Lucia ha lasciato la conversazione.",
    ]


@pytest.mark.parametrize(
    ("chosen", "joined"), [("de", "Lucia ist dazugekommen."), ("", "Lucia joined the conversation.")]
)
def test_without_a_customer_language_notices_use_the_widgets(
    turns: Turns, lucia: User, chosen: str, joined: str
) -> None:
    """English if the widget has no language either."""
    with turns.tenant.tx():
        Widget.objects.update_or_create(project=turns.tenant.project, defaults={"theme": {"language": chosen}})
    come_and_go(turns, lucia)
    assert told(turns)[0] == joined


def test_a_notice_has_a_language_independent_block(turns: Turns, lucia: User) -> None:
    come_and_go(turns, lucia)
    notices = [message.blocks for message in turns.messages() if message.role == "system"]
    assert notices == [
        [{"type": "notice", "notice": "joined", "who": "Lucia"}],
        [{"type": "notice", "notice": "left", "who": "Lucia"}],
    ]


def test_a_colleagues_name_is_not_interpreted_as_a_template(turns: Turns, lucia: User) -> None:
    lucia.first_name = "%(who)s {0.__class__}"
    lucia.save()
    come_and_go(turns, lucia)
    assert told(turns)[0] == "%(who)s {0.__class__} joined the conversation."
