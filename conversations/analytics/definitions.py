"""The definition of every figure, as pages and the API state it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from projects.common.translation import lazy

# Below this number of values, a median, a mean or a comparison says nothing.
FEWEST = 5


@dataclass(frozen=True)
class Definition:
    """A figure's name and the sentence that defines it."""

    label: str
    sentence: str


DEFINITIONS: Mapping[str, Definition] = {
    "conversations": Definition(
        lazy("Conversations"),
        lazy("Conversations with customers that began in the period. Test conversations aren’t counted."),
    ),
    "resolved": Definition(
        lazy("Resolved by the agent"),
        lazy(
            "Finished conversations in which the agent replied, no person was needed and no question stayed "
            "unanswered. Finished means ended, closed or silent for a day."
        ),
    ),
    "handed_over": Definition(
        lazy("Handed over"),
        lazy(
            "Conversations in which the customer asked for a person, a teammate took over or wrote, or the call was transferred."
        ),
    ),
    "unanswered": Definition(
        lazy("Unanswered questions"),
        lazy("Conversations in which the agent searched the knowledge base and found nothing."),
    ),
    "rated": Definition(
        lazy("Rated"),
        lazy(
            "Conversations that the customer rated with one to five stars, in the widget, in the portal or through the API."
        ),
    ),
    "satisfied": Definition(
        lazy("Satisfied"),
        lazy("Conversations that the customer rated with four or five stars, in percent of the rated ones."),
    ),
    "first_token": Definition(
        lazy("First token, median"),
        lazy("Half of the replies to customers began within this time of the customer’s message. p95: 95 of 100 did."),
    ),
    "quality": Definition(
        lazy("Quality"),
        lazy("Average score of the scored turns, from 1 to 10. Only calls are scored unless you choose more channels."),
    ),
    "kept": Definition(
        lazy("Promises kept"),
        lazy(
            "Kept promises as a share of those kept or broken, for promises made in the period. Kept means "
            "there is evidence. Open, withdrawn and unsent promises don’t count."
        ),
    ),
    "promises_kept": Definition(lazy("Kept"), lazy("Promises made in the period with evidence that they were kept.")),
    "promises_open": Definition(
        lazy("Open"), lazy("Promises made in the period that aren’t kept yet and aren’t overdue.")
    ),
    "promises_broken": Definition(
        lazy("Broken"),
        lazy("Promises made in the period that didn’t happen, or weren’t confirmed by their deadline."),
    ),
    "promises_not_sent": Definition(
        lazy("Not sent"),
        lazy("Promises made in the period whose message is in the outbox because no service is connected."),
    ),
    "promises_withdrawn": Definition(
        lazy("Withdrawn"), lazy("Promises made in the period that were withdrawn or are no longer wanted.")
    ),
    "cost": Definition(
        lazy("Model cost"),
        lazy("Cost of the period’s model calls at each model’s price, in US dollars, without test conversations."),
    ),
    "actions": Definition(
        lazy("Actions"), lazy("What the tool did or tried to do in the period, from the effects ledger.")
    ),
}
