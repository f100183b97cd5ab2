"""Personal data in the tables of this app (`tenancy.personal_data`)."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from tenancy.personal_data import Fate, Kept, Subject, TableContents
from tools import models

_ERASED_TICKET = "Erased"

TABLES = (
    TableContents(
        models.Effect,
        gettext_noop("Actions: each message, booking or request that was sent, and what came of it"),
        fate=Fate.EMPTIED,
        kept=Kept.EFFECTS,
        customer=(
            *("quote", "arguments", "repeat_key", "recipient", "visitor", "request", "excerpt", "result", "told"),
            "error",
        ),
        secret=("callback_hash",),
        other=("effect_key", "tool", "kind", "delivery", "definition", "state", "adapter", "origin", "tool_origin"),
        links={"id": Subject.EFFECT},
        emptied={
            **dict.fromkeys(("quote", "repeat_key", "recipient", "visitor", "excerpt", "told", "error"), ""),
            "arguments": {},
            "request": None,
            "result": None,
            "callback_hash": "",
            "conversation_id": None,
            "turn_id": None,
            "repeats": None,
        },
    ),
    TableContents(
        models.AfterAction,
        gettext_noop("What followed an action, such as a field that was set"),
        fate=Fate.DELETED,
        kept=Kept.EFFECTS,
        customer=("options", "raw", "value", "error"),
        other=("type", "state"),
        links={"effect_id": Subject.EFFECT},
    ),
    TableContents(
        models.Promise,
        gettext_noop("Promises of the agent"),
        fate=Fate.DELETED,
        kept=Kept.TRANSCRIPTS,
        customer=("quote", "reason"),
        other=("tool", "state", "evidence", "owner"),
        links={"conversation_id": Subject.CONVERSATION},
    ),
    TableContents(
        models.Verdict,
        gettext_noop("Why a tool fired or did not"),
        fate=Fate.DELETED,
        kept=Kept.TRANSCRIPTS,
        customer=("reason", "quote", "conditions"),
        other=("tool", "rule"),
        links={"conversation_id": Subject.CONVERSATION},
    ),
    TableContents(
        models.Booking,
        gettext_noop("Bookings"),
        fate=Fate.EMPTIED,
        customer=("title", "name", "phone", "email", "notes"),
        # The address of its event contains the id of the booking.
        other=("code", "kind", "state", "cancelled_by", "calendar_url"),
        links={"id": Subject.BOOKING},
        emptied={
            **dict.fromkeys(("title", "name", "phone", "email", "notes"), ""),
            "persona_id": None,
            "conversation_id": None,
        },
    ),
    TableContents(
        models.Ticket,
        gettext_noop("Tickets"),
        fate=Fate.EMPTIED,
        customer=("subject", "body"),
        other=("priority", "state"),
        links={"id": Subject.TICKET},
        emptied={
            "subject": _ERASED_TICKET,
            "body": "",
            "persona_id": None,
            "conversation_id": None,
            "effect_id": None,
        },
    ),
    TableContents(
        models.TicketAnswer,
        gettext_noop("Ticket replies"),
        fate=Fate.DELETED,
        customer=("content",),
        staff=("actor",),
        other=("channel",),
        links={"ticket_id": Subject.TICKET},
    ),
    TableContents(
        models.TicketChange,
        gettext_noop("Ticket changes"),
        fate=Fate.DELETED,
        customer=("before", "after"),
        staff=("actor",),
        links={"ticket_id": Subject.TICKET},
    ),
    TableContents(
        models.Escalation,
        gettext_noop("Requests for a person"),
        fate=Fate.DELETED,
        kept=Kept.TRANSCRIPTS,
        customer=("reason", "lead"),
        other=("state",),
        links={"conversation_id": Subject.CONVERSATION},
    ),
    TableContents(
        models.Verification,
        gettext_noop("Identity verifications of customers"),
        fate=Fate.DELETED,
        other=("method",),
        links={"persona_id": Subject.PERSONA},
    ),
    TableContents(
        models.VerificationCode,
        gettext_noop("One-time codes, hashed"),
        fate=Fate.DELETED,
        secret=("digest",),
        other=("sent_by",),
        links={"persona_id": Subject.PERSONA},
    ),
    TableContents(
        models.KeptCase,
        gettext_noop("Regression cases: replies kept as examples"),
        fate=Fate.SEARCHED,
        customer=("name", "answer", "conversation"),
        other=("channel", "expected"),
    ),
    TableContents(models.CaseResult, gettext_noop("Results of regression cases"), other=("state", "outcomes", "error")),
    TableContents(
        models.EvaluationRun,
        gettext_noop("Runs of the regression cases"),
        staff=("started_by",),
        other=("model", "state", "reason"),
    ),
    TableContents(models.CustomTool, gettext_noop("Custom tools"), secret=("secrets",), other=("name", "definition")),
    TableContents(models.CustomToolVersion, gettext_noop("Versions of custom tools"), other=("definition",)),
    TableContents(
        models.EventSubscription,
        gettext_noop("Subscribers of events"),
        secret=("secrets",),
        other=("target", "url", "events", "last_event", "last_state", "last_error"),
    ),
    TableContents(models.Resource, gettext_noop("Tables, rooms and people that can be booked"), other=("name", "kind")),
    TableContents(models.LimitAlert, gettext_noop("Limits that were reached"), other=("limit",)),
    TableContents(models.OrganizationLimit, gettext_noop("Limits set by owners"), other=("limit",)),
    TableContents(models.OperatorLimit, gettext_noop("Limits set by the server administrator"), other=("limit",)),
    TableContents(models.LimitNotice, gettext_noop("When members were e-mailed about limits")),
    TableContents(models.OperatorNotice, gettext_noop("When operators were e-mailed about waiting customers")),
)
