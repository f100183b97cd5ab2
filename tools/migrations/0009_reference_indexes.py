"""Indexes for the deletion of customers, conversations and turns."""

from django.db import migrations, models

from tenancy.online import AddIndexOnline


class Migration(migrations.Migration):
    # The indexes are built without blocking writes.
    atomic = False

    dependencies = [("tools", "0008_erased_effects")]

    operations = [
        AddIndexOnline(
            "booking", models.Index(fields=["organization", "conversation_id"], name="booking_conversation")
        ),
        AddIndexOnline(
            "escalation", models.Index(fields=["organization", "conversation_id"], name="escalation_conversation")
        ),
        AddIndexOnline("escalation", models.Index(fields=["organization", "turn_id"], name="escalation_turn")),
        AddIndexOnline("escalation", models.Index(fields=["organization", "effect_id"], name="escalation_effect")),
        AddIndexOnline("promise", models.Index(fields=["organization", "message_id"], name="promise_message")),
        AddIndexOnline("ticket", models.Index(fields=["organization", "conversation_id"], name="ticket_conversation")),
        AddIndexOnline("ticket", models.Index(fields=["organization", "persona_id"], name="ticket_persona")),
        AddIndexOnline(
            "ticketanswer", models.Index(fields=["organization", "message_id"], name="ticket_answer_message")
        ),
        AddIndexOnline("ticketanswer", models.Index(fields=["organization", "effect_id"], name="ticket_answer_effect")),
        AddIndexOnline(
            "verdict", models.Index(fields=["organization", "conversation_id"], name="verdict_conversation")
        ),
        AddIndexOnline(
            "verification", models.Index(fields=["organization", "conversation_id"], name="verification_conversation")
        ),
        AddIndexOnline(
            "verificationcode", models.Index(fields=["organization", "conversation_id"], name="code_conversation")
        ),
        AddIndexOnline("verificationcode", models.Index(fields=["organization", "effect_id"], name="code_effect")),
    ]
