"""A project in which every screen has something to show."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.utils import timezone

from conversations.inbox.canned_replies import make_reply
from conversations.inbox.notes import add_note
from conversations.inbox.tags import make_tag
from conversations.models import Channel, Conversation, Message, MessageRole
from jobs.models import Job, State
from projects.accounts.invitations import invite
from projects.agents.services import create_key, save_agent
from projects.models import Article, Member, Role
from projects.models.agent_config import AgentConfig
from projects.models.key import Scope
from projects.widget.widgets import WidgetEdit, save_widget
from tests.conftest import Tenant
from tests.console.pages.conftest import add_effect, add_promise, talk
from tests.tools.examples import KITCHEN
from todos.content import types
from todos.content.lifecycle import Actor
from todos.models import TodoSource
from todos.services import make_todo
from tools.engine.custom import service as custom_tools
from tools.models import (
    EffectState,
    Escalation,
    EscalationState,
    EvaluationRun,
    EventSubscription,
    KeptCase,
    PromiseState,
    RunState,
)
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.search import config_of, new_search
from tools.services.bookings.services import Guest, book
from tools.services.signed_links import PortalTarget, booking_token, portal_token
from tools.services.support.tickets import open_ticket

OWN_TOOL = "notify_kitchen_tool"


def furnish(tenant: Tenant) -> dict[str, Any]:
    """Fill the project. Returns an id for each parameter of a route."""
    row = _conversation(tenant)
    other = talk(tenant, "Do you have parking?", channel=Channel.PHONE, guest="twin", name="Giulia F.")
    effect = add_effect(tenant, row, state=EffectState.UNKNOWN)
    add_effect(tenant, row)
    add_promise(tenant, row, state=PromiseState.KEPT)
    add_promise(tenant, row, "A colleague calls you back.", owner="staff")
    with tenant.tx():
        ids = {**_records(tenant, row), **_team(tenant), **_work(tenant, row)}
    return {
        **ids,
        "project_slug": tenant.project.slug,
        "conversation_id": row.pk,
        "persona_id": row.persona_id,
        "other_id": other.persona_id,
        "effect_id": effect.pk,
        "tool_name": OWN_TOOL,
        "ability_key": "texts",
        "c_token": portal_token(PortalTarget(tenant.organization.pk, row.persona_id), until=40_000),
    }


def _conversation(tenant: Tenant) -> Conversation:
    known = {"phone": "+393475550142", "email": "giulia@example.com"}
    row = talk(tenant, "Could you text me the details?", guest="giulia", name="Giulia Ferri", **known)
    with tenant.tx():
        Message.objects.create(conversation=row, seq=2, role=MessageRole.AGENT, content="I’ll text you the details.")
        rating = {"rating": 4, "rating_comment": "Quick.", "rated_at": timezone.now(), "rated_to": 2}
        Conversation.objects.filter(pk=row.pk).update(last_message=2, flag="The model didn’t answer.", **rating)
        add_note(row.pk, "A regular guest.", by=tenant.owner)
        Escalation.objects.create(
            project=tenant.project,
            conversation_id=row.pk,
            reason="A refund.",
            state=EscalationState.WAITING,
            requested_at=timezone.now(),
        )
    return row


def _records(tenant: Tenant, row: Conversation) -> dict[str, Any]:
    """A booking, an article, a ticket, a tag and a canned reply."""
    project, now = tenant.project, timezone.now()
    search = new_search(project, BookingRequest(2), now=now)
    day = next(search.opening.open_days(search.today + timedelta(days=1), within=20))
    guest = Guest("Giulia Ferri", phone="+393475550142")
    booking = book(project, BookingRequest(2), starts_at=search.free_starts(day)[0], guest=guest, now=now)
    article = Article.objects.create(
        project=project, slug="parking", title="Parking", body="Behind the house.\n\nFree.", published_at=now
    )
    ticket = open_ticket(project.pk, subject="A lost scarf", body="On Friday.", conversation_id=row.pk)
    make_tag(project, "VIP")
    make_reply(project, "Hours", "We are open from 12 to 22, {{customer.name}}.")
    KeptCase.objects.create(project=project, name="Text", answer="I’ll text you.", channel="chat")
    EvaluationRun.objects.create(project=project, number=1, model="gpt-4.1", state=RunState.DONE, finished_at=now)
    EventSubscription.objects.create(project=project, url="https://example.com/events", events=["ordered"])
    return {
        "booking_id": booking.pk,
        "b_token": booking_token(booking),
        "article_slug": article.slug,
        "ticket_id": ticket.pk,
    }


def _team(tenant: Tenant) -> dict[str, Any]:
    """An invitation, a key, a widget and a draft of the settings."""
    project = tenant.project
    invitation = invite("lucia@example.com", role=Role.OPERATOR, by=Member.objects.get(user=tenant.owner))
    create_key(project, name="Website", scopes=[Scope.READ], throttled=True)
    save_widget(project, WidgetEdit(["https://shop.example"], {}, is_enabled=True), by=tenant.owner)
    config = config_of(project).model_dump() | {"style": "Short and friendly."}
    save_agent(project, config=AgentConfig.model_validate(config), author=tenant.owner, is_draft=True)
    return {"i_token": invitation.token}


def _work(tenant: Tenant, row: Conversation) -> dict[str, Any]:
    """A tool with two versions, a todo to review that runs it, and a failed job."""
    project, now = tenant.project, timezone.now()
    for description in ("Tells the kitchen.", "Tells the chef."):
        custom_tools.save(project, name=OWN_TOOL, document={**KITCHEN, "description": description})
    fields = {"name": "Kitchen", "description": "What the kitchen must know.", "tools": [OWN_TOOL]}
    kind = types.save_type(project, fields)
    todo = make_todo(
        project,
        description="Tell the kitchen about the allergy.",
        source=TodoSource.PERSON,
        actor=Actor("Lucia Marchetti"),
        type=kind,
        conversation_id=row.pk,
        tool=OWN_TOOL,
        arguments={"body": {"note": "One of us is allergic to nuts."}},
    )
    common = {"fair_at": now, "run_after": now, "created_at": now, "finished_at": now, "attempts": 5}
    Job.objects.create(
        project=project,
        lane="observer",
        subject_id=row.pk,
        ordinal=1,
        key="observer:1",
        state=State.FAILED,
        error="The model took too long.",
        **common,
    )
    return {"todo_id": todo.pk}
