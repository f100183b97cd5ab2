"""Evidence and owner of promises.

A promise that was kept by a message in the outbox was not sent, and one that was kept by an event without a handler is
broken: nobody heard it. Acts of the conversation, such as a goodbye, are withdrawn: they are no promises.
"""

from django.db import migrations, models

# The owner of the table may change the rows of all tenants while its policies aren't forced.
BACKFILL = [
    "alter table tools_promise no force row level security",
    "alter table tools_effect no force row level security",
    """
    update tools_promise set state = 'withdrawn', closed_at = coalesce(closed_at, now()),
        reason = 'It is an act of the conversation, not a promise.'
    where state <> 'withdrawn' and tool in ('end_conversation_tool', 'check_availability_tool',
        'check_product_or_service_availability', 'check_zip_code_served_tool', 'search_booking_tool')
    """,
    """
    update tools_promise p set evidence = 'outbox', state = 'broken',
        reason = 'It wasn''t sent, because no provider is connected. The message is in the outbox.'
    from tools_effect e
    where e.organization_id = p.organization_id and e.id = p.effect_id and p.state = 'kept'
        and e.state = 'done' and e.adapter = 'outbox'
    """,
    """
    update tools_promise p set state = 'broken', reason = 'Nobody hears this tool''s event.'
    from tools_effect e
    where e.organization_id = p.organization_id and e.id = p.effect_id and p.state = 'kept'
        and e.state = 'done' and e.adapter = 'event'
    """,
    """
    update tools_promise p set evidence = 'effect'
    from tools_effect e
    where e.organization_id = p.organization_id and e.id = p.effect_id and p.state = 'kept'
        and e.state = 'done' and (e.resolved_at is null or e.resolved_at <> e.finished_at)
    """,
    "update tools_promise set evidence = 'person' where state = 'kept' and evidence = ''",
    """
    update tools_promise p set owner = case when p.state = 'open' then 'staff' else '' end
    where p.state <> 'open' or not exists (
        select from tools_effect e where e.organization_id = p.organization_id and e.id = p.effect_id
            and e.state in ('planned', 'sending')
    )
    """,
    # A table whose foreign keys are still to be checked can't be altered.
    "set constraints all immediate",
    "alter table tools_effect force row level security",
    "alter table tools_promise force row level security",
]
EVIDENCE = [
    ("", "None"),
    ("effect", "Effect: a tool did it"),
    ("acknowledged", "Acknowledged: a subscriber of the event took it on"),
    ("delivered", "Delivered: the channel sent a receipt"),
    ("person", "Person: somebody says that it happened"),
    ("outbox", "Outbox: the message is written and was not sent"),
]
OWNERS = [
    ("tool", "Tool: its effect is on the way"),
    ("staff", "Staff: a person has to act"),
    ("", "Nobody: it is closed"),
]
KEPT, OPEN = models.Q(("state", "kept")), models.Q(("state", "open"))
PROVEN = models.Q(("evidence__in", ("effect", "acknowledged", "delivered", "person")))
UNPROVEN, OWNERLESS = models.Q(("evidence__in", ("", "outbox"))), models.Q(("owner", ""))


class Migration(migrations.Migration):
    dependencies = [("tools", "0001_initial")]

    operations = [
        migrations.AddField(
            "promise", "evidence", models.CharField(max_length=12, choices=EVIDENCE, blank=True, default="")
        ),
        migrations.AddField(
            "promise", "owner", models.CharField(max_length=5, choices=OWNERS, blank=True, default="tool")
        ),
        migrations.RunSQL(BACKFILL, reverse_sql=migrations.RunSQL.noop),
        migrations.AddConstraint(
            "promise",
            models.CheckConstraint(condition=(KEPT & PROVEN) | (~KEPT & UNPROVEN), name="kept_by_evidence"),
        ),
        migrations.AddConstraint(
            "promise",
            models.CheckConstraint(condition=(OPEN & ~OWNERLESS) | (~OPEN & OWNERLESS), name="open_has_an_owner"),
        ),
    ]
