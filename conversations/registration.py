"""What the conversations tell the floors below, once all models are there."""

from __future__ import annotations

from conversations.common.contacts import find_customer, flag_customer, read_contact, read_shopper
from conversations.context.todo_transcript import read_told
from conversations.flows.todo_events import hear_of_effect, hear_of_promise, hear_of_todo, hold
from conversations.handover.operators import hear_of_member
from conversations.live.event_log import lock_conversation
from conversations.prompts.prompt_budget_check import weigh_reply
from projects.agents.prompt_size import weigh_prompts_by
from projects.common.signals import member_changed
from todos.executor.conversation import reach_conversations_by
from todos.signals import effect_changed, todo_changed
from todos.sources.customers import find_customers_by
from tools.engine.contacts import read_contacts_by
from tools.engine.signals import promise_answered
from tools.services.orders.shopper import read_shoppers_by
from tools.services.support.callers import flag_callers_by


def register() -> None:
    """Who a customer is, whose a conversation is, what was said in it, and who listens to what becomes of todos and promises;
    what a reply's request weighs.
    """
    weigh_prompts_by(weigh_reply)
    read_contacts_by(read_contact)
    read_shoppers_by(read_shopper)
    flag_callers_by(flag_customer)
    find_customers_by(find_customer)
    reach_conversations_by(read_told, hold, lock_conversation)
    todo_changed.connect(hear_of_todo)
    effect_changed.connect(hear_of_effect)
    promise_answered.connect(hear_of_promise)
    member_changed.connect(hear_of_member)
