"""Instructions for the agent about an urgent message. No customer may read them.

They stand apart from the message, in the event's `instruction`; `conversations.claim_check.instruction_filter` removes
them from a reply whose model repeats them.
"""

from __future__ import annotations

TAKES_LONGER = "Say that it takes longer, and promise no result."
NOT_APPROVED = "Say so if it matters now, and never that it was done."
OUTCOME_UNKNOWN = "Say so if the customer asks, and never that it was done."
