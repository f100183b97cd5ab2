"""Messages that the offline model writes for approved todos."""

from __future__ import annotations

from dataclasses import replace

import pytest

from offline_model.business import best_sentences
from offline_model.composer import compose
from offline_model.wire import Tool
from tests.offline_model.prompts import DEMO, NOW, rendered
from tools.engine.execution.schemas import arguments_schema
from tools.engine.registry import builtin_tools
from tools.engine.skills.arguments import KnownFact

CALLER, ANYBODY = "send_email_to_caller", "send_email"
PROMISED = (
    "The agent promised Marta: “I'll e-mail you our opening hours.” Before that, Marta wrote: “When are you open?”"
)


def letter(todo: str, *, tool: str = CALLER) -> dict[str, str]:
    """The arguments with which the tool is called for the todo."""
    definition = builtin_tools()[tool].definition
    offered = Tool(tool, definition.description, arguments_schema(tool, definition).model_json_schema())
    call = rendered(
        "execute",
        business_name=DEMO["business_name"],
        business_context=DEMO["business_context"],
        now=NOW,
        kind="",
        description=todo,
        quote="",
        contact=[KnownFact(field="name", value="Marta Riva"), KnownFact(field="language", value="en")],
        recipients=["team@danello.example"] if tool == ANYBODY else [],
        earlier=[],
        summary="",
        messages=[],
    )
    [use] = compose(replace(call, schema=None, schema_name="", tools=(offered,))).tool_calls
    assert isinstance(use.arguments, dict)
    return use.arguments


@pytest.mark.parametrize(
    ("todo", "said"),
    [
        ("Write to Marta that the table for Friday is confirmed.", "The table for Friday is confirmed."),
        ("Send Marta what the parking costs, as she asked.", "Parking Ludovisi"),
        (PROMISED, "Tuesday to Friday 12:00 to 15:00 and 18:30 to 23:00"),
        (
            "Correction: …\nTell the customer: “We are sorry, it left today.”\nNext step: x.",
            "We are sorry, it left today.",
        ),
    ],
)
def test_the_message_answers_the_customers_request(todo: str, said: str) -> None:
    """The customer isn't told what a colleague is to do."""
    body = letter(todo)["body"]
    assert body.startswith("Hello Marta Riva,\n")
    assert said in body
    assert todo not in body


def test_a_colleague_is_not_greeted_as_the_customer() -> None:
    written = letter("Tell the kitchen that Marta Riva, table 4 on Friday, is allergic to nuts.", tool=ANYBODY)
    assert written["to"] == "team@danello.example"
    assert written["body"].startswith("Hello,\n\nMarta Riva, table 4 on Friday, is allergic to nuts.")


def test_a_subject_is_cut_between_words() -> None:
    subject = letter("Tell Marta that " + "the table is kept " * 10)["subject"]
    assert len(subject) <= 80
    assert set(subject.partition(": ")[2].removesuffix("…").lower().split()) == {"the", "table", "is", "kept"}


def test_an_address_is_not_cut_at_its_dot() -> None:
    [said] = best_sentences([DEMO["business_context"]], "What is your e-mail address to write to?")[:1]
    assert "ciao@danello.example" in said
