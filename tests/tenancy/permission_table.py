"""The permission table: the scope and status of every URL. A URL that is missing fails a test."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from projects.models import Role
from projects.models.key import Scope

# The scopes of each role, duplicated on purpose.
MAY: dict[str, set[Scope]] = {
    Role.OWNER: {Scope.READ, Scope.CONVERSE, Scope.CONFIGURE, Scope.OPERATE, Scope.OWNER},
    Role.ADMIN: {Scope.READ, Scope.CONVERSE, Scope.CONFIGURE, Scope.OPERATE},
    Role.OPERATOR: {Scope.READ, Scope.CONVERSE, Scope.OPERATE},
    Role.VIEWER: {Scope.READ},
}


@dataclass(frozen=True)
class Operation:
    """A method of an API URL: the scope it requires, and the status for callers that have it."""

    route: str
    method: str
    scope: Scope
    status: int = 200
    body: dict[str, Any] = field(default_factory=dict)

    @property
    def has_row_id(self) -> bool:
        """True if the URL contains the id of a row. A PUT by name may create the row, so it doesn't count."""
        return "<" in self.route and (self.method != "PUT" or "<str:" not in self.route)

    def __str__(self) -> str:
        return f"{self.method} {self.route}"


@dataclass(frozen=True)
class Page:
    """A page: the scope it requires, and the status for members who have it. Some are for owners only."""

    route: str
    scope: Scope | None
    status: int = 200
    is_for_owners: bool = False

    def admits(self, role: str) -> bool:
        return (self.scope is None or self.scope in MAY[role]) and (role == Role.OWNER or not self.is_for_owners)

    def __str__(self) -> str:
        return f"/{self.route}"


API = "api/v1/"
# A time at which the demo's restaurant is open: a Saturday that isn't one of its holidays.
BOOKABLE = next(
    f"{day:%Y-%m-%d}T13:00"
    for day in (datetime.now(UTC).date() + timedelta(days=ahead) for ahead in range(2, 30))
    if day.weekday() == 5 and (day.month, day.day) not in {(12, 24), (12, 25), (12, 26), (1, 1)}
)
ONE = f"{API}conversations/<uuid:conversation_id>"
OWN_TOOL = f"{API}custom-tools/<str:name>"
TOOL = {
    "description": "Tells a colleague.",
    "conditions": {"agentPromised": {"type": "boolean", "description": "The agent commits to it now."}},
    "useConversationHistory": False,
}
ONE_SUBSCRIPTION = f"{API}event-subscriptions/<uuid:subscription_id>"
# An event has one subscriber.
SUBSCRIPTION = {"url": "https://example.com/events", "events": lambda: [f"e{uuid.uuid4().hex}"]}
ONE_TODO = f"{API}todos/<uuid:todo_id>"
RULE = {"tool": "send_email_to_caller", "allowed": {"subject": {"anything": True}}}
IN_AN_HOUR = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
NO_SUCH = {"conversations": ["0198c0de-0000-7000-8000-000000000000"], "action": "close"}
NOBODY = {"persona": "0198c0de-0000-7000-8000-000000000000", "seen": "x"}
PERSON = {"channel": "api", "persona": {"external_id": "guest"}}

OPERATIONS = [
    Operation(f"{API}conversations", "GET", Scope.READ),
    Operation(f"{API}conversations", "POST", Scope.CONVERSE, 201, PERSON),
    Operation(ONE, "GET", Scope.READ),
    Operation(f"{ONE}/messages", "GET", Scope.READ),
    Operation(f"{ONE}/messages", "POST", Scope.CONVERSE, 202, {"content": "Hello"}),
    Operation(f"{ONE}/turns", "GET", Scope.READ),
    Operation(f"{ONE}/turns/<uuid:turn_id>", "GET", Scope.READ),
    Operation(f"{ONE}/events", "GET", Scope.READ),
    Operation(f"{ONE}/events", "POST", Scope.CONVERSE, 202, {"idn": "urgent_message"}),
    Operation(f"{ONE}/session", "GET", Scope.READ),
    # The channel supports neither live calls nor voice.
    Operation(f"{ONE}/session/reports", "POST", Scope.CONVERSE, 409, {"reports": [{"id": "1", "type": "ended"}]}),
    Operation(f"{ONE}/session/updates", "GET", Scope.READ, 409),
    Operation(f"{ONE}/call", "GET", Scope.READ, 404),
    Operation(f"{ONE}/call", "POST", Scope.CONVERSE, 409, {}),
    Operation(f"{ONE}/call/events", "POST", Scope.CONVERSE, 404, {"event": "hung_up"}),
    Operation(f"{ONE}/call/words", "POST", Scope.CONVERSE, 404, {"text": "Hello"}),
    Operation(f"{ONE}/tool-calls", "POST", Scope.CONVERSE, 422, {"call_id": "1", "name": "end_call", "context": {}}),
    Operation(f"{ONE}/log", "GET", Scope.READ),
    Operation(f"{ONE}/take-over", "POST", Scope.OPERATE),
    # No operator has taken it over.
    Operation(f"{ONE}/operator-messages", "POST", Scope.OPERATE, 409, {"content": "Hello"}),
    Operation(f"{ONE}/hand-back", "POST", Scope.OPERATE, 409),
    # It is no WhatsApp chat.
    Operation(f"{ONE}/templates", "GET", Scope.OPERATE, 409),
    Operation(f"{ONE}/templates", "POST", Scope.OPERATE, 409, {"name": "hello"}),
    Operation(f"{ONE}/inbox", "GET", Scope.READ),
    Operation(f"{ONE}/assignee", "PUT", Scope.OPERATE, 200, {"assignee": None}),
    Operation(f"{ONE}/tags", "POST", Scope.OPERATE, 200, {"add": []}),
    Operation(f"{ONE}/snooze", "PUT", Scope.OPERATE, 200, {"until": IN_AN_HOUR}),
    Operation(f"{ONE}/snooze", "DELETE", Scope.OPERATE, 200),
    Operation(f"{ONE}/close", "POST", Scope.OPERATE),
    Operation(f"{ONE}/reopen", "POST", Scope.OPERATE),
    # No model answers here.
    Operation(f"{ONE}/draft", "POST", Scope.OPERATE, 503),
    # The offline model translates nothing, and the customer's language isn't known.
    Operation(f"{ONE}/translations", "POST", Scope.OPERATE, 409, {"language": "en"}),
    Operation(f"{ONE}/translations/answer", "POST", Scope.OPERATE, 409, {"content": "Hello"}),
    Operation(f"{ONE}/typing", "POST", Scope.OPERATE, 204),
    Operation(f"{API}inbox/events", "GET", Scope.READ),
    # The body is an empty file.
    Operation(f"{ONE}/attachments", "POST", Scope.OPERATE, 422),
    Operation(f"{ONE}/messages/attachments", "POST", Scope.CONVERSE, 422),
    # Nobody has answered the customer yet.
    Operation(f"{ONE}/rating", "PUT", Scope.CONVERSE, 409, {"score": 5}),
    Operation(f"{ONE}/notes", "GET", Scope.OPERATE),
    Operation(f"{ONE}/notes", "POST", Scope.OPERATE, 201, {"content": "canary"}),
    Operation(f"{ONE}/notes/read", "POST", Scope.OPERATE, 204),
    Operation(f"{API}conversations/bulk", "POST", Scope.OPERATE, 200, NO_SUCH),
    Operation(f"{ONE}/canned-replies", "GET", Scope.OPERATE),
    Operation(f"{API}canned-replies", "GET", Scope.READ),
    Operation(
        f"{API}canned-replies", "POST", Scope.OPERATE, 201, {"name": lambda: uuid.uuid4().hex, "content": "canary"}
    ),
    Operation(f"{API}canned-replies/<uuid:reply_id>", "PATCH", Scope.OPERATE, 200, {"content": "canary"}),
    Operation(f"{API}canned-replies/<uuid:reply_id>", "DELETE", Scope.OPERATE, 204),
    Operation(f"{API}calls", "GET", Scope.READ),
    Operation(f"{API}calls/<uuid:phone_call_id>/end", "POST", Scope.OPERATE),
    Operation(f"{API}calls/<uuid:phone_call_id>/transfer", "POST", Scope.OPERATE, 200, {"number": "+390655501140"}),
    Operation(f"{API}channels/email", "GET", Scope.READ),
    Operation(
        f"{API}channels/email",
        "PUT",
        Scope.CONFIGURE,
        200,
        {"settings": {"address": "hello@example.com"}, "secret": "canary"},
    ),
    Operation(f"{API}channels/email", "DELETE", Scope.CONFIGURE, 204),
    Operation(f"{API}channels/openai_sip", "GET", Scope.READ),
    Operation(
        f"{API}channels/openai_sip",
        "PUT",
        Scope.CONFIGURE,
        200,
        {"settings": {"number": "+390655501140"}, "secret": {"api_key": "sk-test", "webhook_secret": "whsec_dGVzdA=="}},
    ),
    Operation(f"{API}channels/openai_sip", "DELETE", Scope.CONFIGURE, 204),
    Operation(f"{API}channels/telegram", "GET", Scope.READ),
    # Its server can't be reached, which the state says.
    Operation(
        f"{API}channels/telegram",
        "PUT",
        Scope.CONFIGURE,
        200,
        {"settings": {"base_url": "https://telegram.invalid"}, "secret": "4711:canary"},
    ),
    Operation(f"{API}channels/telegram", "DELETE", Scope.CONFIGURE, 204),
    Operation(f"{API}channels/twilio", "GET", Scope.READ),
    Operation(
        f"{API}channels/twilio",
        "PUT",
        Scope.CONFIGURE,
        200,
        {"settings": {"account_sid": f"AC{'0' * 32}", "number": "+390655501140"}, "secret": "canary"},
    ),
    Operation(f"{API}channels/twilio", "DELETE", Scope.CONFIGURE, 204),
    Operation(f"{API}channels/whatsapp", "GET", Scope.READ),
    Operation(
        f"{API}channels/whatsapp",
        "PUT",
        Scope.CONFIGURE,
        200,
        {
            "settings": {"phone_number_id": "106540352242922"},
            "secret": {"access_token": "canary", "app_secret": "canary"},
        },
    ),
    Operation(f"{API}channels/whatsapp", "DELETE", Scope.CONFIGURE, 204),
    Operation(f"{API}tags", "GET", Scope.READ),
    Operation(f"{API}tags", "POST", Scope.OPERATE, 201, {"name": lambda: uuid.uuid4().hex}),
    Operation(f"{API}tags/<uuid:tag_id>", "PATCH", Scope.OPERATE, 200, {"color": "ok"}),
    Operation(f"{API}tags/<uuid:tag_id>", "DELETE", Scope.OPERATE, 204),
    Operation(f"{API}tickets", "GET", Scope.READ),
    Operation(f"{API}tickets", "POST", Scope.OPERATE, 201, {"subject": "x", "body": "y"}),
    Operation(f"{API}tickets/<uuid:ticket_id>", "GET", Scope.READ),
    Operation(f"{API}tickets/<uuid:ticket_id>", "PATCH", Scope.OPERATE, 200, {"priority": "high"}),
    # The ticket has no customer.
    Operation(
        f"{API}tickets/<uuid:ticket_id>/answers", "POST", Scope.OPERATE, 409, {"content": "x", "channel": "email"}
    ),
    Operation(f"{API}personas", "GET", Scope.READ),
    Operation(f"{API}personas/<uuid:persona_id>", "GET", Scope.READ),
    Operation(f"{API}personas/<uuid:persona_id>", "PATCH", Scope.CONVERSE, 200, {"name": "Ada"}),
    Operation(f"{API}personas/<uuid:persona_id>", "DELETE", Scope.OPERATE, 202),
    Operation(f"{API}personas/<uuid:persona_id>/export", "GET", Scope.OPERATE),
    Operation(f"{API}erasures", "GET", Scope.READ),
    Operation(f"{API}erasures/<uuid:erasure_id>", "GET", Scope.READ),
    # Without another customer, or with one that doesn't exist.
    Operation(f"{API}personas/<uuid:persona_id>/merge", "GET", Scope.READ, 400),
    Operation(f"{API}personas/<uuid:persona_id>/merge", "POST", Scope.OPERATE, 409, NOBODY),
    Operation(f"{API}attributes", "GET", Scope.READ),
    Operation(f"{API}attributes/<str:key>", "GET", Scope.READ),
    Operation(f"{API}attributes/<str:key>", "PUT", Scope.CONFIGURE, 200, {"value": "x"}),
    Operation(f"{API}attributes/<str:key>", "DELETE", Scope.CONFIGURE, 204),
    Operation(f"{API}knowledge", "GET", Scope.READ),
    Operation(f"{API}knowledge", "POST", Scope.CONFIGURE, 201, {"title": "x", "body": "x"}),
    Operation(f"{API}knowledge/<slug:slug>", "GET", Scope.READ),
    Operation(f"{API}knowledge/<slug:slug>", "PUT", Scope.CONFIGURE, 200, {"title": "x", "body": "x"}),
    Operation(f"{API}knowledge/<slug:slug>", "DELETE", Scope.CONFIGURE, 204),
    Operation(f"{API}tools", "GET", Scope.READ),
    Operation(f"{API}tools/evaluate", "POST", Scope.CONFIGURE, 422, {"channel": "chat"}),
    Operation(f"{API}tools/rehearse", "POST", Scope.CONFIGURE, 400, {"tools": {}}),
    Operation(f"{API}custom-tools", "GET", Scope.READ),
    Operation(f"{API}custom-tools", "POST", Scope.CONFIGURE, 201, {"name": lambda: f"t{uuid.uuid4().hex}", **TOOL}),
    Operation(OWN_TOOL, "GET", Scope.READ),
    Operation(OWN_TOOL, "PUT", Scope.CONFIGURE, 200, TOOL),
    Operation(OWN_TOOL, "PATCH", Scope.CONFIGURE, 200, {"enabled": True}),
    Operation(OWN_TOOL, "DELETE", Scope.CONFIGURE, 204),
    Operation(f"{OWN_TOOL}/versions", "GET", Scope.READ),
    Operation(f"{OWN_TOOL}/restore", "POST", Scope.CONFIGURE, 200, {"version": 1}),
    Operation(f"{OWN_TOOL}/signing-secret", "POST", Scope.CONFIGURE, 201),
    Operation(f"{OWN_TOOL}/secret-headers", "PATCH", Scope.CONFIGURE, 200, {"headers": {"X-Key": "x"}}),
    Operation(f"{API}event-subscriptions", "GET", Scope.READ),
    Operation(f"{API}event-subscriptions", "POST", Scope.CONFIGURE, 201, SUBSCRIPTION),
    Operation(ONE_SUBSCRIPTION, "GET", Scope.READ),
    Operation(ONE_SUBSCRIPTION, "PUT", Scope.CONFIGURE, 200, SUBSCRIPTION),
    Operation(ONE_SUBSCRIPTION, "DELETE", Scope.CONFIGURE, 204),
    Operation(f"{ONE_SUBSCRIPTION}/secret", "POST", Scope.CONFIGURE, 201),
    Operation(f"{ONE_SUBSCRIPTION}/test", "POST", Scope.CONFIGURE),
    Operation(f"{API}analytics", "GET", Scope.READ),
    Operation(f"{API}usage", "GET", Scope.READ),
    Operation(f"{API}limits", "GET", Scope.READ),
    Operation(f"{API}limits/<str:limit_name>", "PUT", Scope.CONFIGURE, 200, {"most": 100}),
    Operation(f"{API}organization-limits/<str:limit_name>", "PUT", Scope.OWNER, 200, {"most": 100}),
    Operation(f"{API}limit-alerts/<uuid:alert_id>/lift", "POST", Scope.OPERATE),
    Operation(f"{API}promises", "GET", Scope.READ),
    Operation(f"{API}promises/<uuid:promise_id>/answer", "POST", Scope.OPERATE, 200, {"answer": "kept"}),
    Operation(f"{API}tools/check", "POST", Scope.READ, 200, {"name": "my_tool", "text": "{}"}),
    Operation(f"{API}orders", "GET", Scope.READ, 422),
    Operation(f"{API}effects", "GET", Scope.READ),
    Operation(f"{API}effects/<uuid:effect_id>", "GET", Scope.READ),
    Operation(f"{API}effects/<uuid:effect_id>/resolve", "POST", Scope.OPERATE, 200, {"happened": True}),
    Operation(f"{API}effects/<uuid:effect_id>/release", "POST", Scope.OPERATE, 409),
    # The effect is no event.
    Operation(f"{API}effects/<uuid:effect_id>/acknowledge", "POST", Scope.OPERATE, 409),
    Operation(f"{API}todo-types", "GET", Scope.READ),
    Operation(f"{API}todo-types", "POST", Scope.CONFIGURE, 201, {"name": lambda: uuid.uuid4().hex, "description": "x"}),
    Operation(f"{API}todo-types/<uuid:type_id>", "GET", Scope.READ),
    Operation(f"{API}todo-types/<uuid:type_id>", "PATCH", Scope.CONFIGURE, 200, {"is_extracted": False}),
    Operation(f"{API}todo-types/<uuid:type_id>", "DELETE", Scope.CONFIGURE, 204),
    Operation(f"{API}todos", "GET", Scope.READ),
    Operation(f"{API}todos", "POST", Scope.OPERATE, 201, {"description": "x"}),
    Operation(f"{API}todos/approve", "POST", Scope.OPERATE, 200, {"todos": []}),
    Operation(f"{API}todos/reject", "POST", Scope.OPERATE, 200, {"todos": []}),
    Operation(ONE_TODO, "GET", Scope.READ),
    # The todo is completed, so it can't be changed.
    Operation(ONE_TODO, "PATCH", Scope.OPERATE, 409, {"description": "x"}),
    Operation(f"{ONE_TODO}/approve", "POST", Scope.OPERATE, 409, {"version": 1}),
    Operation(f"{ONE_TODO}/reject", "POST", Scope.OPERATE, 409, {"reason": "x"}),
    Operation(f"{ONE_TODO}/cancel", "POST", Scope.OPERATE, 409, {"reason": "x"}),
    Operation(f"{ONE_TODO}/take", "POST", Scope.OPERATE, 409, {"version": 1}),
    Operation(f"{ONE_TODO}/complete", "POST", Scope.OPERATE, 409, {"note": "x"}),
    Operation(f"{ONE_TODO}/fail", "POST", Scope.OPERATE, 409, {"reason": "x"}),
    Operation(f"{ONE_TODO}/review-again", "POST", Scope.OPERATE, 409, {"repeats": []}),
    Operation(f"{API}standing-rules", "GET", Scope.READ),
    Operation(f"{API}standing-rules", "POST", Scope.CONFIGURE, 201, RULE),
    Operation(f"{API}standing-rules/preview", "POST", Scope.CONFIGURE, 200, RULE),
    Operation(f"{API}standing-rules/<uuid:rule_id>", "DELETE", Scope.CONFIGURE),
    Operation(f"{API}bookings", "GET", Scope.READ),
    Operation(f"{API}bookings", "POST", Scope.OPERATE, 201, {"starts_at": BOOKABLE, "party_size": 2}),
    Operation(f"{API}bookings/<uuid:booking_id>", "GET", Scope.READ),
    Operation(f"{API}bookings/<uuid:booking_id>", "PATCH", Scope.OPERATE, 200, {"party_size": 2}),
    Operation(f"{API}bookings/<uuid:booking_id>", "DELETE", Scope.OPERATE),
    Operation(f"{API}bookings/free", "GET", Scope.READ, 400),
    Operation(f"{API}resources", "GET", Scope.READ),
    Operation(f"{API}resources", "POST", Scope.CONFIGURE, 201, {"name": lambda: uuid.uuid4().hex}),
    Operation(f"{API}resources/<uuid:resource_id>", "GET", Scope.READ),
    Operation(f"{API}resources/<uuid:resource_id>", "PATCH", Scope.CONFIGURE, 200, {"capacity": 4}),
    Operation(f"{API}resources/<uuid:resource_id>", "DELETE", Scope.CONFIGURE, 204),
    Operation(f"{API}evaluation-cases", "GET", Scope.READ),
    Operation(f"{API}evaluation-cases", "POST", Scope.OPERATE, 201, {"name": "x", "answer": "Hello.", "expected": {}}),
    Operation(f"{API}evaluation-runs", "GET", Scope.READ),
    Operation(f"{API}evaluation-runs", "POST", Scope.OPERATE, 400, {"model": ""}),
    Operation(f"{API}evaluation-runs/<uuid:run_id>", "GET", Scope.READ),
    # It is over.
    Operation(f"{API}evaluation-runs/<uuid:run_id>/cancel", "POST", Scope.OPERATE, 409),
    Operation(f"{API}evaluation-cases/<uuid:case_id>", "DELETE", Scope.OPERATE, 204),
    Operation(f"{API}model-calls/<uuid:call_id>", "GET", Scope.READ),
    Operation(f"{API}notices", "GET", Scope.READ),
    Operation(f"{API}notices/read", "POST", Scope.READ),
    Operation(f"{API}jobs/failed", "GET", Scope.READ),
    Operation(f"{API}jobs/<uuid:job_id>/run-again", "POST", Scope.OPERATE, 202),
]

AGENT_SECTIONS = (
    "agent",
    "agent/scenarios",
    "agent/procedures",
    "agent/intents",
    "agent/hours",
    "agent/behaviour",
    "agent/escalation",
    "agent/models",
    "agent/fields",
    "agent/todos",
    "agent/integrations",
    "agent/attributes",
    "agent/limits",
    "agent/privacy",
    *(f"agent/integrations/channels/{kind}" for kind in ("email", "telegram", "twilio", "whatsapp")),
    "agent/privacy/stored",
    "agent/history",
    "agent/publish",
)

# Pages for members. The home page redirects, so it requires no scope.
PAGES = [
    Page("", None, 302),
    Page("p/<slug:project_slug>/", Scope.READ),
    Page("p/<slug:project_slug>/playground", Scope.READ),
    *(Page(f"p/<slug:project_slug>/{section}", Scope.READ) for section in AGENT_SECTIONS),
    Page("p/<slug:project_slug>/agent/models/test", Scope.CONFIGURE, 302),
    Page("p/<slug:project_slug>/agent/privacy/organization/export", Scope.CONFIGURE, is_for_owners=True),
    Page("p/<slug:project_slug>/inbox", Scope.READ),
    Page("p/<slug:project_slug>/inbox.csv", Scope.READ),
    Page("p/<slug:project_slug>/conversations.csv", Scope.READ),
    Page("p/<slug:project_slug>/tickets.csv", Scope.READ),
    Page("p/<slug:project_slug>/inbox/<uuid:conversation_id>", Scope.READ),
    Page("p/<slug:project_slug>/inbox/replies", Scope.OPERATE),
    Page("p/<slug:project_slug>/inbox/tickets/new", Scope.OPERATE),
    Page("p/<slug:project_slug>/inbox/tickets/<uuid:ticket_id>", Scope.READ),
    Page("p/<slug:project_slug>/jobs/failed", Scope.READ),
    Page("p/<slug:project_slug>/promises", Scope.READ),
    Page("p/<slug:project_slug>/promises.csv", Scope.READ),
    Page("p/<slug:project_slug>/todos", Scope.READ),
    Page("p/<slug:project_slug>/todos.csv", Scope.READ),
    Page("p/<slug:project_slug>/todos/news", Scope.READ),
    Page("p/<slug:project_slug>/todos/new", Scope.OPERATE),
    Page("p/<slug:project_slug>/todos/<uuid:todo_id>", Scope.READ),
    Page("p/<slug:project_slug>/todos/<uuid:todo_id>/edit", Scope.OPERATE),
    # The todo runs no tool, so there is nothing to allow.
    Page("p/<slug:project_slug>/todos/<uuid:todo_id>/allow", Scope.CONFIGURE, 404),
    Page("p/<slug:project_slug>/effects", Scope.READ),
    Page("p/<slug:project_slug>/effects.csv", Scope.READ),
    Page("p/<slug:project_slug>/effects/<uuid:effect_id>", Scope.READ),
    Page("p/<slug:project_slug>/knowledge", Scope.READ),
    Page("p/<slug:project_slug>/knowledge/new", Scope.CONFIGURE),
    Page("p/<slug:project_slug>/knowledge/a/<slug:article_slug>", Scope.READ),
    Page("p/<slug:project_slug>/regression-cases", Scope.READ),
    Page("p/<slug:project_slug>/tools", Scope.READ),
    Page("p/<slug:project_slug>/tools/abilities/<slug:ability_key>", Scope.READ),
    Page("p/<slug:project_slug>/tools/custom/new", Scope.CONFIGURE),
    Page("p/<slug:project_slug>/tools/<str:tool_name>", Scope.READ),
    # Built-in tools have no history.
    Page("p/<slug:project_slug>/tools/<str:tool_name>/history", Scope.READ, 404),
    Page("account/", None),
    Page("account/notices/", None),
    Page("p/<slug:project_slug>/notices", Scope.READ),
    Page("p/<slug:project_slug>/notices/news", Scope.READ),
    Page("welcome", None),
    Page("p/<slug:project_slug>/members", Scope.READ),
    Page("p/<slug:project_slug>/members/history", Scope.CONFIGURE),
    Page("p/<slug:project_slug>/members/history.csv", Scope.CONFIGURE),
    Page("p/<slug:project_slug>/keys", Scope.READ),
    Page("p/<slug:project_slug>/bookings", Scope.READ),
    Page("p/<slug:project_slug>/bookings.csv", Scope.READ),
    Page("p/<slug:project_slug>/bookings/<uuid:booking_id>", Scope.READ),
    Page("p/<slug:project_slug>/resources", Scope.READ),
    Page("p/<slug:project_slug>/widget", Scope.READ),
    Page("p/<slug:project_slug>/analytics", Scope.READ),
    Page("p/<slug:project_slug>/usage", Scope.READ),
    Page("p/<slug:project_slug>/usage.csv", Scope.READ),
    Page("p/<slug:project_slug>/palette", Scope.READ),
    Page("p/<slug:project_slug>/calls", Scope.READ),
    # No offline provider runs in these tests.
    Page("p/<slug:project_slug>/simulated-phone", Scope.READ, 404),
    Page("p/<slug:project_slug>/simulated-phone/files/<uuid:file_id>", Scope.READ, 404),
    Page("p/<slug:project_slug>/people", Scope.READ),
    Page("p/<slug:project_slug>/people/<uuid:persona_id>", Scope.READ),
    Page("p/<slug:project_slug>/people/<uuid:persona_id>/merge", Scope.OPERATE),
    Page("p/<slug:project_slug>/people/<uuid:persona_id>/export", Scope.OPERATE),
]

# Old addresses of what is in the inbox now. They redirect, and the new address checks access.
MOVED = {
    "p/<slug:project_slug>/agent/abilities",
    "p/<slug:project_slug>/conversations",
    "p/<slug:project_slug>/conversations/<uuid:conversation_id>",
    "p/<slug:project_slug>/escalations",
    "p/<slug:project_slug>/tickets",
    "p/<slug:project_slug>/tickets/<uuid:ticket_id>",
}

SUBSCRIPTION_FORM = "p/<slug:project_slug>/agent/integrations/events/<uuid:subscription_id>"

# Forms that act on a row. They are posted with a nonexistent id, which is 404 for members with the scope.
FORMS = [
    # No widget exists, so no secret can be created.
    Page("p/<slug:project_slug>/widget/secret", Scope.CONFIGURE, 404),
    Page("p/<slug:project_slug>/undo", Scope.OPERATE, 404),
    # Without the organization's name, and without a request to take back.
    Page("p/<slug:project_slug>/agent/privacy/organization/delete", Scope.CONFIGURE, 302, is_for_owners=True),
    Page("p/<slug:project_slug>/agent/privacy/organization/keep", Scope.CONFIGURE, 302, is_for_owners=True),
    Page("p/<slug:project_slug>/people/<uuid:persona_id>/erase", Scope.OPERATE, 404),
    Page("p/<slug:project_slug>/calls/<uuid:phone_call_id>/end", Scope.OPERATE, 404),
    Page("p/<slug:project_slug>/calls/<uuid:phone_call_id>/take-over", Scope.OPERATE, 404),
    Page("p/<slug:project_slug>/notices/browser", Scope.READ),
    Page("p/<slug:project_slug>/simulated-phone/act", Scope.CONVERSE, 404),
    Page("p/<slug:project_slug>/simulated-phone/connect", Scope.CONFIGURE, 404),
    Page("p/<slug:project_slug>/notices/read", Scope.READ, 302),
    Page("p/<slug:project_slug>/regression-cases", Scope.OPERATE, 404),
    Page("p/<slug:project_slug>/members/<uuid:member_id>/role", Scope.CONFIGURE, 404),
    Page("p/<slug:project_slug>/members/<uuid:member_id>/developer-tools", Scope.CONFIGURE, 404),
    Page("p/<slug:project_slug>/members/<uuid:member_id>/remove", Scope.CONFIGURE, 404),
    Page("p/<slug:project_slug>/invitations/<uuid:invitation_id>/send", Scope.CONFIGURE, 404),
    Page("p/<slug:project_slug>/invitations/<uuid:invitation_id>/revoke", Scope.CONFIGURE, 404),
    Page("p/<slug:project_slug>/keys/<uuid:key_id>/revoke", Scope.CONFIGURE, 404),
    Page("p/<slug:project_slug>/inbox/<uuid:conversation_id>", Scope.OPERATE, 404),
    Page("p/<slug:project_slug>/inbox/tickets/<uuid:ticket_id>", Scope.OPERATE, 404),
    Page("p/<slug:project_slug>/todos/<uuid:todo_id>", Scope.OPERATE, 404),
    Page("p/<slug:project_slug>/todos/<uuid:todo_id>/edit", Scope.OPERATE, 404),
    Page("p/<slug:project_slug>/todos/<uuid:todo_id>/allow", Scope.CONFIGURE, 404),
    Page("p/<slug:project_slug>/knowledge/a/<slug:article_slug>", Scope.CONFIGURE, 404),
    Page("p/<slug:project_slug>/bookings/<uuid:booking_id>/cancel", Scope.OPERATE, 404),
    Page("p/<slug:project_slug>/resources/<uuid:resource_id>", Scope.CONFIGURE, 404),
    Page("p/<slug:project_slug>/resources/<uuid:resource_id>/remove", Scope.CONFIGURE, 404),
    # An empty form is refused.
    Page("p/<slug:project_slug>/agent/integrations/events", Scope.CONFIGURE, 422),
    Page(SUBSCRIPTION_FORM, Scope.CONFIGURE, 404),
    Page(f"{SUBSCRIPTION_FORM}/remove", Scope.CONFIGURE, 404),
    Page(f"{SUBSCRIPTION_FORM}/secret", Scope.CONFIGURE, 404),
    Page(f"{SUBSCRIPTION_FORM}/test", Scope.CONFIGURE, 404),
    # Nothing is connected, which the page says.
    *(
        Page(f"p/<slug:project_slug>/agent/integrations/channels/{kind}/{action}", Scope.CONFIGURE)
        for kind in ("email", "telegram", "twilio", "whatsapp")
        for action in ("check", "send", "end")
    ),
    Page("p/<slug:project_slug>/agent/integrations/<slug:kind>/disconnect", Scope.CONFIGURE, 404),
    Page("p/<slug:project_slug>/agent/integrations/<slug:kind>/test", Scope.CONFIGURE, 404),
]

# Public pages and files.
PUBLIC = {
    "healthz",
    "livez",
    "widget.js",
    "call.js",
    "manifest.webmanifest",
    "favicon.ico",
    "apple-touch-icon.png",
    "apple-touch-icon-precomposed.png",
    "p/service-worker.js",
    "i18n/<str:language>.js",
    "i18n/console/<str:language>.js",
    f"{API}schema/",
    f"{API}docs/",
}

# Webhooks that their provider signs: tests/conversations/calls and tests/conversations/channels.
SIGNED = {
    "hooks/email/<uuid:source_id>",
    "hooks/openai/calls",
    "hooks/telegram/<uuid:source_id>",
    "hooks/twilio/calls",
    "hooks/twilio/calls/next",
    "hooks/twilio/calls/dialed",
    "hooks/twilio/messages",
    "hooks/twilio/status",
    "hooks/whatsapp/<uuid:source_id>",
}

# Authenticated by the token in the URL.
BY_TOKEN = {
    f"{API}tool-results/<str:token>",
    # The widget's URLs also check the origin and, except for the session, the visitor's token:
    # tests/conversations/widget.
    "widget/<str:key>/session",
    "widget/<str:key>/messages",
    "widget/<str:key>/attachments",
    "widget/<str:key>/events",
    "widget/<str:key>/person",
    "widget/<str:key>/rating",
    "widget/<str:key>/calls",
    "widget/<str:key>/calls/<uuid:visitor_call_id>",
}

# All URLs under admin/ share one rule: owners, admins and superusers.
ADMIN = "admin/"

# Account pages, mostly allauth's: the status for anonymous visitors.
ACCOUNT = {
    "account/2fa/": 302,
    "account/2fa/authenticate/": 302,
    "account/2fa/reauthenticate/": 302,
    "account/2fa/recovery-codes/": 302,
    "account/2fa/recovery-codes/download/": 302,
    "account/2fa/recovery-codes/generate/": 302,
    "account/2fa/totp/activate/": 302,
    "account/2fa/totp/deactivate/": 302,
    "account/language": 302,
    "account/shortcuts": 302,
    "account/browsers": 302,
    # Another person's, or none.
    "account/browsers/<slug:browser>/remove": 404,
    "account/browsers/<slug:browser>/test": 404,
    "account/2fa/webauthn/": 302,
    "account/2fa/webauthn/add/": 302,
    "account/2fa/webauthn/keys/<int:pk>/edit/": 302,
    "account/2fa/webauthn/keys/<int:pk>/remove/": 302,
    "account/2fa/webauthn/login/": 302,
    "account/2fa/webauthn/reauthenticate/": 302,
    "account/confirm-email/": 200,
    "account/email/": 302,
    "account/inactive/": 200,
    "account/login/": 200,
    "account/login/code/confirm/": 302,
    "account/logout/": 302,
    "account/password/change/": 302,
    "account/password/reset/": 200,
    "account/password/reset/done/": 200,
    "account/password/reset/key/done/": 200,
    "account/password/set/": 302,
    "account/reauthenticate/": 302,
    "account/signup/": 200,
    r"account/^confirm-email/(?P<key>[-:\w]+)/$": 200,
    r"account/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$": 200,
    "b/<str:token>": 404,
    "files/<str:token>": 404,
    "c/<str:token>": 404,
    "c/<str:token>/events": 404,
    "c/<str:token>/attachments": 405,
    "c/<str:token>/calls": 405,
    "c/<str:token>/calls/<uuid:call_id>": 404,
    "c/<str:token>/calls/<uuid:call_id>/events": 404,
    # The shop exists only in the demo.
    "demo/shop": 404,
    "demo/shop/wp-json/wc/v3/orders": 404,
    "invitations/<str:token>": 410,
    "join": 410,
    "k/<slug:project_slug>/<slug:article_slug>": 404,
    "p/<slug:project_slug>/<path:rest>": 302,
}
