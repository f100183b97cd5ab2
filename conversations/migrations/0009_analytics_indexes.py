"""Indexes of what the analytics look for: messages of operators, and searches of the knowledge base."""

from django.db import migrations, models

from tenancy.online import AddIndexOnline


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("conversations", "0008_merged_customers")]

    operations = [
        AddIndexOnline(
            "message",
            models.Index(
                condition=models.Q(("role", "operator")),
                fields=["organization", "conversation"],
                name="message_operator",
            ),
        ),
        AddIndexOnline(
            "turncall",
            models.Index(
                condition=models.Q(("name__in", ("search_knowledge", "query_knowledge"))),
                fields=["organization", "step"],
                name="turn_call_search",
            ),
        ),
        AddIndexOnline(
            "event",
            models.Index(
                condition=models.Q(("idn", "live_tool_result")),
                fields=["organization", "conversation"],
                name="event_live_result",
            ),
        ),
    ]
