from django.conf import settings
from django.db import migrations, models

from tenancy.baseline import DENSE_ORGANIZATION, ID, ORGANIZATION, CreateTables
from tenancy.rls import combine, foreign_key, tenant_table
from tenancy.tenant_models import TenantForeignKey

CONVERSATION = {"conversation_id": "conversations_conversation"}
TURN = {"turn_id": "conversations_turn"}
EFFECT = {"effect_id": "tools_effect"}
REFERRED_TO = {
    **CONVERSATION,
    **TURN,
    "persona_id": "conversations_persona",
    "message_id": "conversations_message",
}
# Tables of lower floors that point up: they tell of a conversation, and are forgotten with it. The database holds what
# their code doesn't know.
FORGOTTEN_WITH_IT = {
    "tools_verdict": ("conversation_id", "turn_id"),
    "tools_effect": ("conversation_id", "turn_id"),
    "tools_promise": ("conversation_id", "turn_id", "message_id"),
    "tools_escalation": ("conversation_id", "turn_id"),
    "tools_ticket": ("conversation_id", "persona_id"),
    "tools_verification": ("conversation_id", "persona_id"),
    "tools_verificationcode": ("conversation_id", "persona_id"),
    "jobs_modelcall": ("turn_id",),
    "todos_todo": ("conversation_id", "turn_id", "persona_id"),
}
# Under row-level security an index only serves comparisons that the database calls leakproof: those of text, uuid and
# time are, LIKE, trigrams and full text search are not, nor is any function over a column. So what a customer is found
# by is kept as they are looked for, in the collation that sorts by bytes, where a prefix is a range.
FOUND_BY = """
case key
  when 'name' then lower(value)
  when 'email' then lower(value)
  when 'phone' then reverse(regexp_replace(value, '[^0-9]', '', 'g'))
end
"""
LAST_WORD = "case key when 'name' then lower(substring(value from '[^[:space:]]+$')) end"
LISTS = (
    "alter table conversations_personafield"
    f' add column found_by text collate "C" generated always as ({FOUND_BY}) stored,'
    f' add column found_by_last text collate "C" generated always as ({LAST_WORD}) stored',
    "create index persona_found on conversations_personafield (organization_id, key, found_by)"
    " where found_by is not null",
    "create index persona_found_last on conversations_personafield (organization_id, key, found_by_last)"
    " where found_by_last is not null",
    "create index conversation_flagged on conversations_conversation"
    " (organization_id, project_id, updated_at desc) where flag <> ''",
    "create index call_cost on jobs_modelcall (organization_id, project_id, started_at) include (cost)",
)


class Migration(migrations.Migration):
    initial = True

    dependencies = [("jobs", "0001_initial"), ("todos", "0001_initial")]

    operations = [
        CreateTables(
            [
                migrations.CreateModel(
                    "Conversation",
                    fields=[
                        ID,
                        (
                            "channel",
                            models.CharField(
                                max_length=10,
                                choices=[
                                    ("chat", "Chat"),
                                    ("phone", "Phone"),
                                    ("webcall", "Web call"),
                                    ("telegram", "Telegram"),
                                    ("whatsapp", "WhatsApp"),
                                    ("sms", "SMS"),
                                    ("portal", "Portal"),
                                    ("api", "API"),
                                ],
                            ),
                        ),
                        (
                            "status",
                            models.CharField(
                                max_length=12,
                                default="open",
                                choices=[
                                    ("open", "Open"),
                                    ("ended", "Ended"),
                                    ("transferred", "Transferred to a person"),
                                ],
                            ),
                        ),
                        ("metadata", models.JSONField(default=dict)),
                        ("directives_turn", models.PositiveIntegerField(default=0)),
                        ("last_event", models.PositiveIntegerField(default=0)),
                        ("last_message", models.PositiveIntegerField(default=0)),
                        ("last_turn", models.PositiveIntegerField(default=0)),
                        ("flag", models.CharField(max_length=300, blank=True, help_text="why staff should look")),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                        DENSE_ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(
                                related_name="conversations",
                                on_delete=models.CASCADE,
                                to="projects.project",
                                db_index=False,
                            ),
                        ),
                        (
                            "directives",
                            TenantForeignKey(
                                null=True, related_name="+", on_delete=models.PROTECT, to="conversations.directives"
                            ),
                        ),
                        (
                            "persona",
                            TenantForeignKey(
                                related_name="conversations", on_delete=models.CASCADE, to="conversations.persona"
                            ),
                        ),
                        ("follow_up_at", models.DateTimeField(null=True)),
                        ("follow_ups", models.PositiveSmallIntegerField(default=0)),
                        ("recovery", models.CharField(max_length=300, blank=True)),
                        (
                            "summary",
                            TenantForeignKey(
                                null=True, related_name="+", on_delete=models.PROTECT, to="conversations.summary"
                            ),
                        ),
                        ("correction", models.CharField(max_length=300, blank=True)),
                        ("extracted_to", models.PositiveIntegerField(default=0)),
                        (
                            "operator",
                            models.ForeignKey(
                                null=True, related_name="+", on_delete=models.SET_NULL, to=settings.AUTH_USER_MODEL
                            ),
                        ),
                        ("operator_since", models.DateTimeField(null=True)),
                        ("shopper", models.JSONField(null=True)),
                    ],
                    options={
                        "indexes": [
                            models.Index(fields=["organization", "project", "-updated_at"], name="conversation_recent"),
                            models.Index(
                                condition=models.Q(("follow_up_at__isnull", False)),
                                fields=["follow_up_at"],
                                name="conversation_timer",
                            ),
                            models.Index(
                                condition=models.Q(
                                    ("extracted_to__lt", models.F("last_message")), ("follow_up_at__isnull", True)
                                ),
                                fields=["updated_at"],
                                name="conversation_silent",
                            ),
                        ]
                    },
                ),
                migrations.CreateModel(
                    "Directives",
                    fields=[
                        ID,
                        ("version", models.PositiveIntegerField()),
                        ("document", models.JSONField()),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "conversation",
                            TenantForeignKey(
                                related_name="all_directives", on_delete=models.CASCADE, to="conversations.conversation"
                            ),
                        ),
                        DENSE_ORGANIZATION,
                        (
                            "turn",
                            TenantForeignKey(
                                related_name="+", on_delete=models.CASCADE, to="conversations.turn", db_index=False
                            ),
                        ),
                    ],
                    options={
                        "verbose_name_plural": "directives",
                        "constraints": [
                            models.UniqueConstraint(fields=("organization", "turn"), name="one_directives_per_turn")
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Message",
                    fields=[
                        ID,
                        ("seq", models.PositiveIntegerField()),
                        (
                            "role",
                            models.CharField(
                                max_length=10,
                                choices=[
                                    ("user", "Customer"),
                                    ("agent", "Agent"),
                                    ("operator", "Operator"),
                                    ("system", "System"),
                                ],
                            ),
                        ),
                        ("content", models.TextField()),
                        ("blocks", models.JSONField(default=list)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "conversation",
                            TenantForeignKey(
                                related_name="messages",
                                on_delete=models.CASCADE,
                                to="conversations.conversation",
                                db_index=False,
                            ),
                        ),
                        DENSE_ORGANIZATION,
                        (
                            "turn",
                            TenantForeignKey(
                                null=True, related_name="messages", on_delete=models.CASCADE, to="conversations.turn"
                            ),
                        ),
                        ("author", models.CharField(max_length=80, blank=True)),
                    ],
                    options={
                        "ordering": ["seq"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "conversation", "seq"), name="one_message_per_seq"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Persona",
                    fields=[
                        ID,
                        ("external_id", models.CharField(max_length=200)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(related_name="personas", on_delete=models.CASCADE, to="projects.project"),
                        ),
                        ("flagged", models.BooleanField(default=False)),
                        ("flag_reason", models.CharField(max_length=300, blank=True)),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "project", "external_id"), name="one_persona"
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "PersonaField",
                    fields=[
                        ID,
                        ("key", models.CharField(max_length=40)),
                        ("value", models.CharField(max_length=500)),
                        (
                            "strength",
                            models.PositiveSmallIntegerField(
                                choices=[
                                    (1, "Inferred: it follows from what was said"),
                                    (2, "Stated: the customer said it"),
                                    (3, "Given: staff or the API set it"),
                                ]
                            ),
                        ),
                        ("quote", models.CharField(max_length=500, blank=True)),
                        ("message_id", models.UUIDField(null=True)),
                        ("turn_id", models.UUIDField(null=True)),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                        ORGANIZATION,
                        (
                            "persona",
                            TenantForeignKey(
                                related_name="fields", on_delete=models.CASCADE, to="conversations.persona"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["key"],
                        "indexes": [models.Index(fields=["organization", "turn_id"], name="persona_field_turn")],
                        "constraints": [
                            models.UniqueConstraint(fields=("organization", "persona", "key"), name="one_persona_field")
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Turn",
                    fields=[
                        ID,
                        ("seq", models.PositiveIntegerField()),
                        (
                            "status",
                            models.CharField(
                                max_length=12,
                                default="queued",
                                choices=[
                                    ("queued", "Queued: the reply waits for a worker"),
                                    ("replying", "Replying: the model writes"),
                                    ("done", "Done: the reply is sent"),
                                    ("failed", "Failed: the customer was told so"),
                                    ("superseded", "Superseded: a newer message took over; its turn answers both"),
                                ],
                            ),
                        ),
                        ("partial", models.TextField(blank=True)),
                        (
                            "freshness",
                            models.CharField(
                                max_length=8,
                                default="none",
                                choices=[
                                    ("none", "None yet"),
                                    ("fresh", "Fresh: of the turn before"),
                                    ("stale", "Stale: of an earlier turn"),
                                    ("waiting", "Waiting: a tool's result was awaited"),
                                ],
                            ),
                        ),
                        ("tools_called", models.BooleanField(default=False)),
                        ("error", models.CharField(max_length=300, blank=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("started_at", models.DateTimeField(null=True)),
                        ("first_token_at", models.DateTimeField(null=True)),
                        ("replied_at", models.DateTimeField(null=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                        (
                            "conversation",
                            TenantForeignKey(
                                related_name="turns",
                                on_delete=models.CASCADE,
                                to="conversations.conversation",
                                db_index=False,
                            ),
                        ),
                        (
                            "directives_used",
                            TenantForeignKey(
                                null=True, related_name="+", on_delete=models.CASCADE, to="conversations.directives"
                            ),
                        ),
                        (
                            "message",
                            TenantForeignKey(
                                null=True, related_name="+", on_delete=models.CASCADE, to="conversations.message"
                            ),
                        ),
                        DENSE_ORGANIZATION,
                        (
                            "reply",
                            TenantForeignKey(
                                null=True, related_name="+", on_delete=models.CASCADE, to="conversations.message"
                            ),
                        ),
                        (
                            "superseded_by",
                            TenantForeignKey(
                                null=True, related_name="supersedes", on_delete=models.CASCADE, to="conversations.turn"
                            ),
                        ),
                        (
                            "origin",
                            models.CharField(
                                max_length=10,
                                default="message",
                                choices=[
                                    ("message", "The customer wrote"),
                                    ("urgent", "An urgent message made the agent speak"),
                                    ("follow_up", "The customer was silent for long enough"),
                                ],
                            ),
                        ),
                        ("quality_reason", models.CharField(max_length=300, blank=True)),
                        ("quality_score", models.PositiveSmallIntegerField(null=True)),
                        ("refused", models.JSONField(default=list)),
                        ("working_hours", models.JSONField(null=True)),
                    ],
                    options={
                        "ordering": ["seq"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "conversation", "seq"), name="one_turn_per_seq"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Event",
                    fields=[
                        ID,
                        ("seq", models.PositiveIntegerField()),
                        ("idn", models.CharField(max_length=120)),
                        ("connector", models.CharField(max_length=40, default="system")),
                        (
                            "type",
                            models.CharField(
                                max_length=12,
                                default="system",
                                choices=[
                                    ("message", "A message"),
                                    ("turn", "A turn changed"),
                                    ("tool_call", "A tool was called inside the turn"),
                                    ("block", "Something to be shown in place of words"),
                                    ("directives", "New directives"),
                                    ("effect", "An effect changed"),
                                    ("waiting", "Waiting began or ended"),
                                    ("error", "Something went wrong"),
                                    ("done", "A turn's reply is complete"),
                                    ("system", "A system event"),
                                ],
                            ),
                        ),
                        ("payload", models.JSONField(default=dict)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "conversation",
                            TenantForeignKey(
                                related_name="events",
                                on_delete=models.CASCADE,
                                to="conversations.conversation",
                                db_index=False,
                            ),
                        ),
                        DENSE_ORGANIZATION,
                    ],
                    options={
                        "ordering": ["seq"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "conversation", "seq"), name="one_event_per_seq"
                            )
                        ],
                        "indexes": [
                            models.Index(
                                condition=models.Q(("idn", "urgent_message")),
                                fields=["organization", "conversation", "seq"],
                                name="event_urgent",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "FollowUp",
                    fields=[
                        ID,
                        ("generation", models.PositiveIntegerField()),
                        ("due_at", models.DateTimeField()),
                        (
                            "state",
                            models.CharField(
                                max_length=8,
                                choices=[
                                    ("fired", "Fired: the agent wrote again"),
                                    ("missed", "Missed: it ran out during an outage, too long ago to write now"),
                                ],
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "conversation",
                            TenantForeignKey(
                                related_name="all_follow_ups", on_delete=models.CASCADE, to="conversations.conversation"
                            ),
                        ),
                        ORGANIZATION,
                        (
                            "turn",
                            TenantForeignKey(
                                null=True, related_name="+", on_delete=models.CASCADE, to="conversations.turn"
                            ),
                        ),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "conversation", "generation"),
                                name="one_follow_up_per_generation",
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "Summary",
                    fields=[
                        ID,
                        ("until_seq", models.PositiveIntegerField()),
                        ("text", models.TextField()),
                        ("facts", models.JSONField(default=dict)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "conversation",
                            TenantForeignKey(
                                related_name="summaries", on_delete=models.CASCADE, to="conversations.conversation"
                            ),
                        ),
                        ORGANIZATION,
                    ],
                    options={
                        "verbose_name_plural": "summaries",
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "conversation", "until_seq"), name="one_summary_per_seq"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "PromptSection",
                    fields=[
                        ID,
                        ("name", models.CharField(max_length=80)),
                        ("content", models.TextField()),
                        ("effect_id", models.UUIDField(null=True)),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                        (
                            "conversation",
                            TenantForeignKey(
                                related_name="prompt_sections",
                                on_delete=models.CASCADE,
                                to="conversations.conversation",
                            ),
                        ),
                        ORGANIZATION,
                    ],
                    options={
                        "ordering": ["name"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "conversation", "name"), name="one_prompt_section_per_name"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Wait",
                    fields=[
                        ID,
                        (
                            "effect_id",
                            models.UUIDField(
                                null=True, help_text="the effect whose end ends it; none for one that an event opened"
                            ),
                        ),
                        ("reason", models.CharField(max_length=200)),
                        ("opened_at", models.DateTimeField()),
                        ("until", models.DateTimeField()),
                        ("ended_at", models.DateTimeField(null=True)),
                        (
                            "outcome",
                            models.CharField(
                                max_length=8,
                                blank=True,
                                choices=[
                                    ("result", "The tool's result came"),
                                    ("failure", "The tool failed"),
                                    ("timeout", "No result came in time"),
                                ],
                            ),
                        ),
                        (
                            "conversation",
                            TenantForeignKey(
                                related_name="waits", on_delete=models.CASCADE, to="conversations.conversation"
                            ),
                        ),
                        ORGANIZATION,
                        (
                            "turn",
                            TenantForeignKey(
                                null=True, related_name="+", on_delete=models.CASCADE, to="conversations.turn"
                            ),
                        ),
                        (
                            "late_at",
                            models.DateTimeField(
                                null=True, help_text="when the result came after all, after the wait had run out"
                            ),
                        ),
                    ],
                    options={
                        "indexes": [
                            models.Index(
                                condition=models.Q(("ended_at", None)),
                                fields=["organization", "conversation"],
                                name="wait_of_conversation",
                            ),
                            models.Index(condition=models.Q(("ended_at", None)), fields=["until"], name="wait_until"),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("effect_id__isnull", False)),
                                fields=("organization", "effect_id"),
                                name="one_wait_per_effect",
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Analysis",
                    fields=[
                        ID,
                        DENSE_ORGANIZATION,
                        ("steps", models.JSONField()),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                        (
                            "conversation",
                            TenantForeignKey(
                                related_name="analyses", on_delete=models.CASCADE, to="conversations.conversation"
                            ),
                        ),
                        (
                            "turn",
                            TenantForeignKey(
                                related_name="analyses",
                                on_delete=models.CASCADE,
                                to="conversations.turn",
                                db_index=False,
                            ),
                        ),
                    ],
                    options={
                        "verbose_name_plural": "analyses",
                        "constraints": [
                            models.UniqueConstraint(fields=("organization", "turn"), name="one_analysis_per_turn")
                        ],
                    },
                ),
                migrations.CreateModel(
                    "TurnStep",
                    fields=[
                        ID,
                        ("number", models.PositiveSmallIntegerField()),
                        ("content", models.TextField(blank=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ORGANIZATION,
                        (
                            "turn",
                            TenantForeignKey(related_name="steps", on_delete=models.CASCADE, to="conversations.turn"),
                        ),
                    ],
                    options={
                        "ordering": ["number"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "turn", "number"), name="one_turn_step_per_number"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "TurnCall",
                    fields=[
                        ID,
                        ("index", models.PositiveSmallIntegerField()),
                        ("call_id", models.CharField(max_length=120)),
                        ("name", models.CharField(max_length=120)),
                        ("arguments_text", models.TextField(blank=True)),
                        ("arguments", models.JSONField(null=True)),
                        ("result", models.TextField(blank=True)),
                        ("is_error", models.BooleanField(default=False)),
                        ("block", models.JSONField(null=True)),
                        ("signal", models.CharField(max_length=10, blank=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                        (
                            "effect",
                            TenantForeignKey(
                                null=True, related_name="turn_calls", on_delete=models.CASCADE, to="tools.effect"
                            ),
                        ),
                        ORGANIZATION,
                        (
                            "step",
                            TenantForeignKey(
                                related_name="calls", on_delete=models.CASCADE, to="conversations.turnstep"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["index"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "step", "index"), name="one_turn_call_per_index"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "VoiceSession",
                    fields=[
                        ID,
                        ("heard_at", models.DateTimeField()),
                        ("speaking_since", models.DateTimeField(null=True)),
                        ("ended_at", models.DateTimeField(null=True)),
                        ("applied", models.PositiveIntegerField(default=0)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "conversation",
                            TenantForeignKey(
                                related_name="voice_sessions",
                                on_delete=models.CASCADE,
                                to="conversations.conversation",
                                db_index=False,
                            ),
                        ),
                        (
                            "given_directives",
                            TenantForeignKey(
                                null=True, related_name="+", on_delete=models.PROTECT, to="conversations.directives"
                            ),
                        ),
                        ORGANIZATION,
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "conversation"), name="one_voice_session_per_conversation"
                            )
                        ]
                    },
                ),
            ]
        ),
        combine(
            tenant_table("conversations_persona", parents={"project_id": "projects_project"}),
            tenant_table("conversations_personafield", parents={"persona_id": "conversations_persona"}),
            tenant_table(
                "conversations_conversation",
                parents={"project_id": "projects_project", "persona_id": "conversations_persona"},
            ),
            tenant_table("conversations_turn", parents=CONVERSATION),
            tenant_table("conversations_message", parents={**CONVERSATION, **TURN}),
            tenant_table("conversations_directives", parents={**CONVERSATION, **TURN}, append_only=True),
            tenant_table("conversations_event", parents=CONVERSATION, append_only=True, referenced=False),
            tenant_table("conversations_followup", parents={**CONVERSATION, **TURN}, append_only=True),
            tenant_table("conversations_summary", parents=CONVERSATION, append_only=True),
            tenant_table("conversations_wait", parents={**CONVERSATION, **TURN, **EFFECT}),
            tenant_table("conversations_promptsection", parents=CONVERSATION),
            tenant_table("conversations_analysis", parents={**CONVERSATION, **TURN}, referenced=False),
            tenant_table("conversations_turnstep", parents=TURN),
            tenant_table("conversations_turncall", parents={"step_id": "conversations_turnstep", **EFFECT}),
            tenant_table(
                "conversations_voicesession",
                parents={**CONVERSATION, "given_directives_id": "conversations_directives"},
            ),
            foreign_key("conversations_conversation", "directives_id", "conversations_directives"),
            foreign_key("conversations_conversation", "summary_id", "conversations_summary"),
            foreign_key("conversations_turn", "superseded_by_id", "conversations_turn"),
            foreign_key("conversations_turn", "message_id", "conversations_message"),
            foreign_key("conversations_turn", "reply_id", "conversations_message"),
            foreign_key("conversations_turn", "directives_used_id", "conversations_directives"),
            foreign_key("conversations_promptsection", "effect_id", "tools_effect"),
            foreign_key("tools_booking", "conversation_id", "conversations_conversation"),
            foreign_key("tools_booking", "persona_id", "conversations_persona"),
            *(
                foreign_key(table, column, REFERRED_TO[column], cascade=True)
                for table, columns in FORGOTTEN_WITH_IT.items()
                for column in columns
            ),
            *LISTS,
            # A conversation's row, which each turn changes five times, finds room beside itself.
            "alter table conversations_conversation set (fillfactor = 70)",
        ),
    ]
