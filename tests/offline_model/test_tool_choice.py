"""Tool selection: order and caller lookups, verification and handover."""

from __future__ import annotations

import pytest

from offline_model.skills.reply import reply
from offline_model.tool_choice import choose_tool, describe_results
from offline_model.wire import ChatCall, Tool, ToolUse
from tools.builtin.escalate_to_human import OFFERED
from tools.engine.registry import builtin_tools

NAMES = ("lookup_order", "lookup_caller", "verify_caller", "send_verification_code", "check_verification_code")
GREETED = ("Hello", "How can I help?")
ASKS = "To be sure who you are, please tell me the phone number or the e-mail address that we have on file for you."


def asked(
    *said: str, called: tuple[str, ...] = (), results: tuple[str, ...] = (), of: tuple[str, ...] = NAMES
) -> ChatCall:
    """Request with alternating customer and agent messages, followed by tool results."""
    spoken = [("assistant" if index % 2 else "user", text) for index, text in enumerate(said)]
    handlers = {name: tool.handler for name, tool in builtin_tools().items() if name in of and tool.handler}
    tools = [Tool(name, builtin_tools()[name].definition.description, one.schema) for name, one in handlers.items()]
    messages = [("system", ""), *spoken, *(("tool", text) for text in results)]
    return ChatCall(model="x", messages=messages, tools=tuple(tools), answered_tools=called)


def chosen(call: ChatCall) -> ToolUse | None:
    return choose_tool(call, lacks_answer=lambda: False)


@pytest.mark.requirement("W04")
@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("Where is my order?", "lookup_order"),
        ("Can you track my parcel?", "lookup_order"),
        ("Show me my last 3 orders", "lookup_order"),
        ("I want to order the blue jacket", None),
        ("Please send me the code", "send_verification_code"),
        ("It is 123 456", "check_verification_code"),
        ("My number is +39 333 123 4567", None),
        ("I'd like a table for two", None),
    ],
)
def test_messages_select_the_lookup_tool(words: str, name: str | None) -> None:
    use = chosen(asked(*GREETED, words))
    assert (use.name if use else None) == name


@pytest.mark.requirement("W03")
@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (
            "Ich möchte mit einem Menschen sprechen",
            "Mit der Schaltfläche unten wird ein Kollege gebeten, hier zu übernehmen.",
        ),
        ("Vorrei parlare con una persona", "Con il pulsante qui sotto si chiede a un collega di continuare qui."),
        ("Quiero hablar con una persona", "Con el botón de abajo se pide a un compañero que continúe aquí."),
        (
            "Je voudrais parler à quelqu'un",
            "Avec le bouton ci-dessous, un collègue est invité à prendre le relais ici.",
        ),
        ("I want to talk to a person", OFFERED),
    ],
)
def test_the_handover_is_offered_in_the_customers_language(said: str, answer: str) -> None:
    told = asked(said, called=("escalate_to_human",), results=(OFFERED,), of=("escalate_to_human",))
    assert reply(told).text == answer


@pytest.mark.requirement("L18")
def test_the_caller_lookup_runs_first_and_is_not_read_out() -> None:
    assert chosen(asked("Hello")) == ToolUse("lookup_caller", {})
    after = asked("Hello", called=("lookup_caller",), results=("Anna, a regular since 2019.",))
    assert describe_results(after) == ""


def test_a_result_can_request_verification() -> None:
    first = "It isn't sure yet who this is. Call `verify_caller` first, and then this again."
    use = chosen(asked(*GREETED, "Cancel it", called=("cancel_appointment",), results=(first,)))
    assert use is not None
    assert use.name == "verify_caller"
    both = asked(*GREETED, "Cancel it", called=("cancel_appointment", "verify_caller"), results=(first, ASKS))
    assert describe_results(both) == ASKS


def test_contact_details_are_passed_to_verification() -> None:
    use = chosen(asked("Cancel it", ASKS, "It's +39 333 123 4567"))
    assert use is not None
    assert use.name == "verify_caller"


def test_contact_details_from_the_page_are_verified() -> None:
    proof = "I would like to see my bookings. What you have on file for me is anna@example.org"
    use = chosen(asked(*GREETED, proof))
    assert use is not None
    assert (use.name, use.arguments["email"]) == ("verify_caller", "anna@example.org")


@pytest.mark.requirement("W04")
def test_only_the_latest_order_is_summarized() -> None:
    """The customer sees the list beside the words."""
    found = (
        "2 orders were found, the newest first. Order 1043 of 21 November 2026 is on hold, 31.70 EUR: 2 × Pasta 500 g."
        " Order 1038 of 17 November 2026 is completed, 62.00 EUR: 2 × Oil 0.75 l."
    )
    told = describe_results(asked("Where is my order?", called=("lookup_order",), results=(found,)))
    assert told == "Here are your 2 newest orders. The last one, 1043 of 21 November, is on hold."
    one = found.partition(" Order 1038")[0].replace("2 orders were", "1 order was")
    assert describe_results(asked("Where is my order?", called=("lookup_order",), results=(one,))) == one


CAKE = (
    "Can we celebrate a birthday and bring our own cake? (slug: birthdays)\nYou can bring your own birthday cake. Or our "
    "kitchen bakes one, when it is ordered three days before: a millefoglie for eight costs € 45."
)
DELIVERY = "When does an order arrive? (slug: delivery)\nParcels take two days from our warehouse."
KNOWLEDGE = "The knowledge base says, the best first:"


@pytest.mark.parametrize(
    ("question", "articles", "slug", "said"),
    [
        ("Where is my order?", [CAKE], None, ""),
        ("Can I bring a birthday cake?", [CAKE], "birthdays", "You can bring your own birthday cake."),
        ("Where is my order?", [CAKE, DELIVERY], "delivery", "Parcels take two days from our warehouse."),
    ],
)
def test_an_article_that_only_shares_a_word_is_no_answer(
    question: str, articles: list[str], slug: str | None, said: str
) -> None:
    found = "\n\n".join([KNOWLEDGE, *articles])
    told = asked(*GREETED, question, called=("search_knowledge",), results=(found,), of=("search_knowledge",))
    assert describe_results(told) == said
    shows = asked(*GREETED, question, called=("search_knowledge",), results=(found,), of=("send_kb_article",))
    use = choose_tool(shows, lacks_answer=lambda: True)
    assert (use.arguments["slug"] if use else None) == slug


@pytest.mark.requirement("W03")
@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("A person, please", "escalate_to_human"),
        ("For one person", None),
        ("Ich möchte mit einem Menschen sprechen", "escalate_to_human"),
        ("Kann ich bitte mit jemandem reden?", "escalate_to_human"),
        ("Verbinden Sie mich mit einem Mitarbeiter", "escalate_to_human"),
        ("Ein Tisch mit einer Person mehr", None),
        ("Vorrei parlare con un operatore", "escalate_to_human"),
        ("Posso parlare con qualcuno?", "escalate_to_human"),
        ("Un tavolo per una persona", None),
        ("Quiero hablar con una persona", "escalate_to_human"),
        ("¿Me puede pasar con un compañero?", "escalate_to_human"),
        ("Una mesa para una persona", None),
        ("Je voudrais parler à quelqu'un", "escalate_to_human"),
        ("Pouvez-vous me mettre en relation avec un conseiller ?", "escalate_to_human"),
        ("Une table pour une personne", None),
    ],
)
def test_a_request_for_a_person_selects_the_handover_tool(words: str, name: str | None) -> None:
    use = chosen(asked(*GREETED, words, of=("escalate_to_human",)))
    assert (use.name if use else None) == name
