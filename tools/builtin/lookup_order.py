"""lookup_order: returns the orders of a signed-in shopper from the business's shop."""

from __future__ import annotations

from tools.engine.builtin_tool import BuiltinTool, Capability, RetryPolicy, Trigger, always, define
from tools.engine.execution.handler import Handler
from tools.services.orders.lookup import OrderArguments, look_up_orders

TOOL = BuiltinTool(
    name="lookup_order",
    kind="order_lookup",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    # Offered even without a shop; then it says politely that it can't look.
    gate=always,
    definition=define(
        "Looks the customer's own recent orders up in the shop: their status, what was ordered, and where the parcels are."
    ),
    handler=Handler(execute=look_up_orders, arguments=OrderArguments),
    moments=(Trigger.TURN, Trigger.LIVE),
    capability=Capability.ORDER_STATUS,
    category="orders",
    section="""\
### Looking Up Orders
- When the customer asks about an order, a delivery or a parcel, call `lookup_order` before you answer, and never guess.
- It finds the orders of the customer who is signed in to the shop; ask for no order number, no e-mail address and no password.
- Where a list of orders is shown beside your words, don't repeat all of it.""",
)
