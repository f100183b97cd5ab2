"""The product's own sentences to customers, in their language."""

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


def test_a_customer_reads_of_colleagues_in_their_own_language(turns: Turns, lucia: User) -> None:
    """The language stored for the customer."""
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
def test_of_whom_no_language_is_known_in_the_widget_s(turns: Turns, lucia: User, chosen: str, joined: str) -> None:
    """English if the widget has none either."""
    with turns.tenant.tx():
        Widget.objects.update_or_create(project=turns.tenant.project, defaults={"theme": {"language": chosen}})
    come_and_go(turns, lucia)
    assert told(turns)[0] == joined


def test_programs_read_a_notice_as_a_block(turns: Turns, lucia: User) -> None:
    """Whatever its language."""
    come_and_go(turns, lucia)
    notices = [message.blocks for message in turns.messages() if message.role == "system"]
    assert notices == [
        [{"type": "notice", "notice": "joined", "who": "Lucia"}],
        [{"type": "notice", "notice": "left", "who": "Lucia"}],
    ]


def test_a_colleague_s_name_is_no_template(turns: Turns, lucia: User) -> None:
    lucia.first_name = "%(who)s {0.__class__}"
    lucia.save()
    come_and_go(turns, lucia)
    assert told(turns)[0] == "%(who)s {0.__class__} joined the conversation."
