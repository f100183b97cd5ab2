"""Connects conversations to the hooks and signals of the lower rooms, once all models are loaded."""

from __future__ import annotations

import todos.hooks
import tools.engine.hooks
from conversations.channels.mail.watching import watch_mailboxes
from conversations.channels.outgoing import plan_delivery
from conversations.channels.receipts import settle_receipt
from conversations.common.consents import is_withdrawn_at
from conversations.common.contacts import find_customer, flag_customer, read_contact, read_shopper
from conversations.common.customer_names import customer_name, customer_names
from conversations.common.merged import lock_customer
from conversations.context.todo_transcript import read_todo_transcript
from conversations.flows.todo_events import hold_back, on_effect_changed, on_promise_answered, on_todo_changed
from conversations.handover.operators import on_member_changed
from conversations.live.event_log import message_added
from conversations.live.stream_auth import end_key_streams, end_member_streams
from conversations.prompts.prompt_budget_check import weigh_reply
from conversations.tool_runs.effects.receipts import settle
from conversations.turns.admission import count_open
from jobs.lanes import Queue
from jobs.standing import add_service
from projects.accounts.members import member_changed
from projects.agents.prompt_size import measure_prompt
from projects.agents.services import key_revoked


def register() -> None:
    """Connect customer, conversation and transcript hooks, the prompt size check, and the receivers of change signals."""
    measure_prompt.connect(weigh_reply)
    message_added.connect(plan_delivery)
    add_service(Queue.WORK, watch_mailboxes)
    settle_receipt.connect(settle)
    tools.engine.hooks.read_contact.connect(read_contact)
    tools.engine.hooks.lock_customer.connect(lock_customer)
    tools.engine.hooks.is_withdrawn_at.connect(is_withdrawn_at)
    tools.engine.hooks.read_shopper.connect(read_shopper)
    tools.engine.hooks.flag_customer.connect(flag_customer)
    tools.engine.hooks.customer_name.connect(customer_name)
    tools.engine.hooks.count_open_conversations.connect(count_open)
    tools.engine.hooks.promise_answered.connect(on_promise_answered)
    todos.hooks.find_customer.connect(find_customer)
    todos.hooks.customer_names.connect(customer_names)
    todos.hooks.read_transcript.connect(read_todo_transcript)
    todos.hooks.hold_conversation.connect(hold_back)
    todos.hooks.todo_changed.connect(on_todo_changed)
    todos.hooks.effect_changed.connect(on_effect_changed)
    member_changed.connect(on_member_changed)
    member_changed.connect(end_member_streams)
    key_revoked.connect(end_key_streams)
