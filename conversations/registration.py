"""What the conversations tell the floors below, once all models are there."""

from __future__ import annotations

from conversations.contacts import find_customer, read_contact
from conversations.todo_news import hear_of_effect, hear_of_promise, hear_of_todo
from todos.customers import find_customers_by
from todos.signals import effect_changed, todo_changed
from tools.contacts import read_contacts_by
from tools.signals import promise_answered


def register() -> None:
    """Who a customer is, whose a conversation is, and who listens to what becomes of todos and promises."""
    read_contacts_by(read_contact)
    find_customers_by(find_customer)
    todo_changed.connect(hear_of_todo)
    effect_changed.connect(hear_of_effect)
    promise_answered.connect(hear_of_promise)
