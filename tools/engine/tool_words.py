"""Words of the built-in tools for people: titles, summaries, arguments and conditions. Their definitions are written for the
model.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from projects.common.differences import label_of
from projects.common.translation import lazy, plazy
from tools.engine.catalogue import BUILT_IN, CompiledTool


class ToolWords(NamedTuple):
    """The title of a tool, and its work in one sentence."""

    title: str
    summary: str


TOOL_WORDS = {
    "book_appointment": ToolWords(lazy("Book appointment"), lazy("Books a day and time the customer agreed to.")),
    "cancel_appointment": ToolWords(
        lazy("Cancel appointment"), lazy("Cancels the customer’s booking at their request.")
    ),
    "cancel_booking_tool": ToolWords(lazy("Cancel booking"), lazy("Cancels a booking the customer already made.")),
    "check_availability": ToolWords(
        lazy("Check availability"), lazy("Checks whether a day and time is free, and what is free nearby.")
    ),
    "check_availability_tool": ToolWords(
        lazy("Check availability"), lazy("Checks whether a table, slot or appointment is free.")
    ),
    "check_product_or_service_availability": ToolWords(
        lazy("Check product or service availability"), lazy("Checks whether a product or service is available.")
    ),
    "check_verification_code": ToolWords(
        lazy("Check verification code"), lazy("Checks the one-time code that the customer received.")
    ),
    "check_zip_code_served_tool": ToolWords(
        lazy("Check ZIP code"), lazy("Checks whether you serve a ZIP code or area.")
    ),
    "create_booking_tool": ToolWords(lazy("Create booking"), lazy("Creates a new booking or reservation.")),
    "create_meeting_tool": ToolWords(lazy("Create meeting"), lazy("Adds a meeting to the calendar.")),
    "end_call": ToolWords(lazy("End call"), lazy("Ends the current call after a goodbye.")),
    "end_conversation_tool": ToolWords(lazy("End conversation"), lazy("Ends the conversation after the goodbye.")),
    "escalate_to_human": ToolWords(
        lazy("Hand over to a person"), lazy("Offers the customer a person, with a button in the chat.")
    ),
    "flag_caller": ToolWords(
        lazy("Flag caller"), lazy("Flags abusive or nuisance callers for your team and ends the call.")
    ),
    "lookup_appointment": ToolWords(lazy("Look up appointment"), lazy("Finds the bookings the customer made.")),
    "lookup_caller": ToolWords(lazy("Look up caller"), lazy("Looks up the caller in your own system by phone number.")),
    "lookup_order": ToolWords(
        lazy("Look up order"), lazy("Looks up the customer’s recent orders, their status and their parcels.")
    ),
    "open_ticket": ToolWords(lazy("Open ticket"), lazy("Creates a ticket for what the conversation can’t settle.")),
    "query_knowledge": ToolWords(
        lazy("Search knowledge"), lazy("Looks up a question in the knowledge base during a call.")
    ),
    "search_booking_tool": ToolWords(lazy("Search booking"), lazy("Finds a booking the customer already made.")),
    "search_knowledge": ToolWords(lazy("Search knowledge"), lazy("Looks up a question in your articles.")),
    "send_email": ToolWords(
        lazy("Send e-mail to recipients"), lazy("Sends an e-mail to a recipient approved for the todo.")
    ),
    "send_email_to_caller": ToolWords(
        lazy("Send e-mail to caller"), lazy("Sends the customer a follow-up e-mail at their known address.")
    ),
    "send_email_tool": ToolWords(lazy("Send e-mail"), lazy("Sends the customer an e-mail with information.")),
    "send_kb_article": ToolWords(lazy("Send article"), lazy("Shows the customer a card that links to an article.")),
    "send_manage_booking_url_tool": ToolWords(
        lazy("Send booking link"), lazy("Sends the customer a link to view, change or cancel their booking.")
    ),
    "send_portal_link": ToolWords(
        lazy("Send portal link"), lazy("Texts the caller a link to their bookings, past conversations and a chat.")
    ),
    "send_sms": ToolWords(lazy("Send SMS"), lazy("Texts the customer at their own number.")),
    "send_sms_tool": ToolWords(lazy("Send SMS"), lazy("Texts the customer the information they need.")),
    "send_verification_code": ToolWords(
        lazy("Send verification code"), lazy("Sends a one-time code to the customer’s phone or e-mail on file.")
    ),
    "transfer_call": ToolWords(lazy("Transfer call"), lazy("Transfers the current call to a person.")),
    "transfer_call_tool": ToolWords(lazy("Transfer call"), lazy("Transfers the current call to a person.")),
    "verify_caller": ToolWords(
        lazy("Verify caller"), lazy("Confirms the customer’s identity before sharing or changing their data.")
    ),
}

ARGUMENT_WORDS = {
    "body": lazy("Body"),
    "by": lazy("By"),
    "code": lazy("Code"),
    "date": lazy("Date"),
    "email": lazy("E-mail"),
    "limit": lazy("Limit"),
    "name": lazy("Name"),
    "notes": lazy("Notes"),
    "party_size": lazy("Party size"),
    "phone": lazy("Phone"),
    "phone_number": lazy("Phone number"),
    "priority": lazy("Priority"),
    "product": lazy("Product"),
    "query": lazy("Query"),
    "reason": lazy("Reason"),
    "slug": lazy("Article"),
    "status": lazy("Status"),
    "subject": lazy("Subject"),
    "text": lazy("Text"),
    "time": lazy("Time"),
    "title": lazy("Title"),
    "to": plazy("recipient", "To"),
    "with_whom": lazy("With"),
    "zip_code": lazy("ZIP code"),
}
CONDITION_WORDS = {
    "agentAsksNothing": lazy("The agent asks nothing"),
    "agentPromised": lazy("The agent promises it"),
    "agentSaidGoodbye": lazy("The agent says goodbye"),
    "customerAgreed": lazy("The customer agreed"),
    "customerAsked": lazy("The customer asked for it"),
    "isApproved": lazy("A colleague approved it"),
    "notRelatedToExistingBooking": lazy("It isn’t about an existing booking"),
}
_NAMES = re.compile(rf"\b(?:{'|'.join(name for name in TOOL_WORDS if '_' in name)})\b")
SPELLED = {"sms": "SMS", "url": "link", "email": "e-mail", "zip": "postal"}


def capitalized(words: str) -> str:
    """The text with its first letter in upper case and the rest unchanged."""
    return words[:1].upper() + words[1:]


def title_of_tool(name: str) -> str:
    """A tool's title, such as "Send e-mail to caller". A custom tool's is made from its name."""
    if name in TOOL_WORDS:
        return str(TOOL_WORDS[name].title)
    words = name.removesuffix("_tool").split("_")
    title = " ".join(SPELLED.get(word, word) for word in words)
    return capitalized(title)


def tool_choices(names: Iterable[str]) -> list[tuple[str, str]]:
    """The tools with their titles, by title. Those that share a title have their names beside it."""
    titles = {name: title_of_tool(name) for name in names}
    shared = Counter(titles.values())
    labels = {name: f"{title} ({name})" if shared[title] > 1 else title for name, title in titles.items()}
    return sorted(labels.items(), key=lambda one: one[1].casefold())


def with_titles(text: str) -> str:
    """A text that was written for the model, with the titles of built-in tools in place of their names."""
    return _NAMES.sub(lambda found: f"“{title_of_tool(found[0])}”", text)


def argument_label(name: str) -> str:
    """The name of a tool's argument for people."""
    return str(ARGUMENT_WORDS.get(name) or label_of(name))


def conditions_of(tool: CompiledTool) -> list[dict[str, str]]:
    """The conditions for people. One that has no label is described by its definition."""
    return [
        {"name": name, "label": str(CONDITION_WORDS.get(name, "")), "description": condition.description}
        for name, condition in tool.definition.conditions.items()
    ]


def summary_of(tool: CompiledTool) -> str:
    """The work of a tool in one sentence for people. Custom tools have their own description."""
    if tool.origin == BUILT_IN and tool.name in TOOL_WORDS:
        return str(TOOL_WORDS[tool.name].summary)
    return tool.definition.description
