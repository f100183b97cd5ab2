"""check_availability: looks up free times while the agent replies."""

from __future__ import annotations

from tools.builtin.check_availability_tool import AvailabilityArguments, check_availability
from tools.engine.builtin_tool import BuiltinTool, RetryPolicy, Trigger, define
from tools.engine.execution.handler import Handler
from tools.engine.gates import needs_calendar
from tools.services.calendar.availability import calendar_aware_handler

TOOL = BuiltinTool(
    name="check_availability",
    kind="availability",
    delivery=RetryPolicy.IDEMPOTENT,
    keeps_promise=False,
    gate=needs_calendar,
    definition=define("Looks up whether a day and time is free, and what is free near it."),
    handler=Handler(
        execute=calendar_aware_handler(AvailabilityArguments, check_availability), arguments=AvailabilityArguments
    ),
    moments=(Trigger.TURN, Trigger.LIVE),
    category="calendar",
    section="""\
### Appointments
- Call `check_availability` before you offer a time; offer only times that it answers with.
- Call `book_appointment` only after the customer has agreed to the day and the time.
- Look up or cancel only what is the customer's own; where they have to be verified first, the tool says so.""",
)
