"""Rows that name an erased customer without a reference to them."""

from __future__ import annotations

from conversations.handover.attachments import upload, upload_ahead
from conversations.models import Conversation
from conversations.turns.services import start_conversation
from projects.models import AuditAction, AuditEntry, IdempotentRequest, Project
from projects.records.audit import record_change
from tests.conftest import Tenant
from tests.privacy.conftest import erase
from todos.models import StandingRule
from tools.models import Effect, EffectState, KeptCase


def begin(tenant: Tenant) -> Conversation:
    with tenant.tx():
        known = {"name": "Ada Lovelace", "phone": "+393475550142", "email": "Ada@people.example"}
        return start_conversation(tenant.project, channel="chat", external_id="guest-7731", known=known, metadata={})


def send(project: Project, recipient: str) -> Effect:
    return Effect.objects.create(
        project_id=project.pk,
        effect_key=recipient,
        tool="send_sms",
        kind="sms",
        delivery="once",
        definition={},
        state=EffectState.DONE,
        recipient=recipient,
        arguments={"to": recipient},
    )


def test_effects_to_their_number_or_address_without_a_conversation_are_emptied(tenant: Tenant) -> None:
    """Effects name numbers in digits, and addresses in lower case."""
    conversation = begin(tenant)
    with tenant.tx():
        theirs = [send(tenant.project, recipient) for recipient in ("393475550142", "ada@people.example")]
        other = send(tenant.project, "393475550143")
    erase(tenant, conversation.persona_id)
    with tenant.tx():
        found = Effect.objects.filter(pk__in=[one.pk for one in theirs])
        assert [(one.recipient, one.arguments) for one in found] == [("", {}), ("", {})]
        assert Effect.objects.get(pk=other.pk).recipient == "393475550143"


def test_stored_responses_of_their_uploads_go(tenant: Tenant) -> None:
    conversation = begin(tenant)
    with tenant.tx():
        sent = upload(conversation, b"My order", name="a.txt", by=None)
        waiting = upload_ahead(tenant.project, "guest-7731", b"My order", name="b.txt")
        for file in (sent, waiting):
            response = {"key": file.name, "body_hash": "", "answer": {"id": str(file.pk)}, "status": 201}
            IdempotentRequest.objects.create(project=tenant.project, **response)
    erase(tenant, conversation.persona_id)
    with tenant.tx():
        assert not IdempotentRequest.objects.exists()


def test_a_standing_rule_for_their_address_ends(tenant: Tenant) -> None:
    conversation = begin(tenant)
    with tenant.tx():
        allowed = {"to": {"equals": "ada@people.example"}}
        rule = {"project": tenant.project, "tool": "send_email", "created_by": tenant.organization.pk}
        theirs = StandingRule.objects.create(allowed=allowed, **rule)
        other = StandingRule.objects.create(allowed={"to": {"anything": True}}, **rule)
    erase(tenant, conversation.persona_id)
    with tenant.tx():
        ended = StandingRule.objects.get(pk=theirs.pk)
        assert (ended.allowed, ended.ended_at is not None) == ({}, True)
        assert StandingRule.objects.get(pk=other.pk).ended_at is None


def test_regression_cases_that_name_them_go_and_others_stay(tenant: Tenant) -> None:
    """A first name alone is nobody's: it would take every Ada's cases."""
    conversation = begin(tenant)
    with tenant.tx():
        for answer in ("Thank you, Ada Lovelace.", "Thank you, Ada."):
            KeptCase.objects.create(project=tenant.project, name="x", answer=answer, channel="chat")
    erase(tenant, conversation.persona_id)
    with tenant.tx():
        assert [case.answer for case in KeptCase.objects.all()] == ["Thank you, Ada."]


def test_older_entries_of_the_audit_log_no_longer_name_them(tenant: Tenant) -> None:
    conversation = begin(tenant)
    entry = {"organization_id": tenant.organization.pk, "by": tenant.owner, "project": tenant.project}
    with tenant.tx():
        record_change(AuditAction.CUSTOMERS_MERGED, subject="guest-7731 into guest-1", **entry)
        record_change(AuditAction.EXPORTED, subject="people", after={"filters": "q=ada lovelace"}, **entry)
        record_change(AuditAction.INVITED, subject="ada@people.example", **entry)
    erase(tenant, conversation.persona_id)
    with tenant.tx():
        found = {one.action: (one.subject, one.after) for one in AuditEntry.objects.exclude(action="customer.erased")}
        assert found[AuditAction.CUSTOMERS_MERGED] == ("a customer", {})
        assert found[AuditAction.EXPORTED] == ("a customer", {})
        assert found[AuditAction.INVITED] == ("ada@people.example", {})
