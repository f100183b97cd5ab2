from django.conf import settings
from django.db import migrations, models

from tenancy.baseline import ID, ORGANIZATION, CreateTables
from tenancy.rls import combine, foreign_key, tenant_table
from tenancy.tenant_models import TenantForeignKey

PROJECT = {"project_id": "projects_project"}
EFFECT = {"effect_id": "tools_effect"}


class Migration(migrations.Migration):
    initial = True

    dependencies = [("projects", "0002_organizations")]

    operations = [
        CreateTables(
            [
                migrations.CreateModel(
                    "Effect",
                    fields=[
                        ID,
                        ("project_id", models.UUIDField()),
                        ("conversation_id", models.UUIDField(null=True)),
                        ("turn_id", models.UUIDField(null=True)),
                        ("effect_key", models.CharField(max_length=64)),
                        ("tool", models.CharField(max_length=120)),
                        ("kind", models.CharField(max_length=40)),
                        ("delivery", models.CharField(max_length=12)),
                        ("definition", models.JSONField(help_text="the tool as it was when this was planned")),
                        ("arguments", models.JSONField(default=dict)),
                        (
                            "state",
                            models.CharField(
                                max_length=10,
                                default="planned",
                                choices=[
                                    ("planned", "Planned: decided and stored, not begun"),
                                    ("sending", "Sending: begun, the outcome isn't known yet"),
                                    ("done", "Done: it happened"),
                                    ("failed", "Failed: it did not happen"),
                                    ("unknown", "Unknown: staff is asked whether it happened"),
                                    ("held", "Held: a repeat of something done already"),
                                    ("cancelled", "Cancelled before it began"),
                                ],
                            ),
                        ),
                        ("attempts", models.PositiveSmallIntegerField(default=0)),
                        ("result", models.JSONField(null=True)),
                        ("error", models.TextField(blank=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("started_at", models.DateTimeField(null=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                        ORGANIZATION,
                        ("adapter", models.CharField(max_length=20, blank=True)),
                        ("arranged_at", models.DateTimeField(null=True)),
                        ("callback_hash", models.CharField(max_length=64, blank=True)),
                        ("deadline_at", models.DateTimeField(null=True)),
                        ("excerpt", models.TextField(blank=True)),
                        ("http_status", models.PositiveSmallIntegerField(null=True)),
                        (
                            "origin",
                            models.CharField(
                                max_length=12,
                                default="commitment",
                                choices=[
                                    ("commitment", "A commitment of the agent's, found after its reply"),
                                    ("turn", "A call inside the turn"),
                                    ("live", "A call inside a live conversation"),
                                    ("todo", "A todo that staff approved"),
                                    ("book", "A change in the booking book"),
                                ],
                            ),
                        ),
                        ("quote", models.TextField(blank=True, help_text="the agent's exact words")),
                        ("repeat_key", models.CharField(max_length=64, blank=True)),
                        ("repeats", models.UUIDField(null=True, help_text="the effect that a held one repeats")),
                        ("request", models.JSONField(null=True)),
                        ("resolved_at", models.DateTimeField(null=True)),
                        (
                            "resolved_by",
                            models.UUIDField(null=True, help_text="who said whether an unknown effect happened"),
                        ),
                        ("told", models.TextField(blank=True)),
                        ("tool_version", models.PositiveIntegerField(default=1)),
                        (
                            "accepted_at",
                            models.DateTimeField(null=True, help_text="when the tool took it on, to answer later"),
                        ),
                        ("is_uncertain", models.BooleanField(default=False)),
                        (
                            "recipient",
                            models.CharField(
                                max_length=254, blank=True, help_text="the number or address it goes to, for the caps"
                            ),
                        ),
                        (
                            "tool_origin",
                            models.CharField(
                                max_length=12, blank=True, help_text="built-in, or custom: the project's own"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["created_at", "id"],
                        "indexes": [
                            models.Index(fields=["organization", "turn_id"], name="effect_turn"),
                            models.Index(
                                fields=["organization", "conversation_id", "-created_at"], name="effect_conversation"
                            ),
                            models.Index(fields=["organization", "project_id", "-created_at"], name="effect_project"),
                            models.Index(
                                condition=models.Q(("repeat_key", ""), _negated=True),
                                fields=["organization", "conversation_id", "repeat_key"],
                                name="effect_repeat",
                            ),
                            models.Index(
                                condition=models.Q(("callback_hash", ""), _negated=True),
                                fields=["callback_hash"],
                                name="effect_callback",
                            ),
                            models.Index(
                                condition=models.Q(("recipient", ""), _negated=True),
                                fields=["organization", "project_id", "recipient", "-started_at"],
                                name="effect_recipient",
                            ),
                            models.Index(
                                condition=models.Q(("state", "unknown")),
                                fields=["organization", "project_id"],
                                name="effect_unknown",
                            ),
                            models.Index(
                                condition=models.Q(("origin", "turn"), ("state__in", ["planned", "sending"])),
                                fields=["created_at"],
                                name="effect_in_turn",
                            ),
                        ],
                        "constraints": [
                            models.UniqueConstraint(fields=("organization", "effect_key"), name="one_effect_per_key")
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Verdict",
                    fields=[
                        ID,
                        ("conversation_id", models.UUIDField()),
                        ("turn_id", models.UUIDField()),
                        ("tool", models.CharField(max_length=120)),
                        ("fired", models.BooleanField()),
                        ("rule", models.CharField(max_length=20, blank=True)),
                        ("reason", models.CharField(max_length=300)),
                        ("quote", models.TextField(blank=True)),
                        ("conditions", models.JSONField(default=dict)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ORGANIZATION,
                    ],
                    options={
                        "ordering": ["created_at", "id"],
                        "indexes": [models.Index(fields=["organization", "turn_id"], name="verdict_turn")],
                    },
                ),
                migrations.CreateModel(
                    "Resource",
                    fields=[
                        ID,
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(related_name="resources", on_delete=models.CASCADE, to="projects.project"),
                        ),
                        ("name", models.CharField(max_length=120)),
                        (
                            "kind",
                            models.CharField(
                                max_length=20,
                                default="table",
                                choices=[("table", "Table"), ("room", "Room"), ("person", "Person")],
                            ),
                        ),
                        ("capacity", models.PositiveSmallIntegerField(default=2)),
                        ("slot_minutes", models.PositiveSmallIntegerField(default=90)),
                        ("is_active", models.BooleanField(default=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["capacity", "name"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "project", "name"), name="one_resource_per_name"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Booking",
                    fields=[
                        ID,
                        ORGANIZATION,
                        (
                            "resource",
                            TenantForeignKey(related_name="bookings", on_delete=models.CASCADE, to="tools.resource"),
                        ),
                        ("project_id", models.UUIDField()),
                        ("conversation_id", models.UUIDField(null=True)),
                        ("persona_id", models.UUIDField(null=True)),
                        ("effect_id", models.UUIDField(null=True)),
                        ("code", models.CharField(max_length=12)),
                        (
                            "kind",
                            models.CharField(
                                max_length=12,
                                default="booking",
                                choices=[("booking", "Booking"), ("meeting", "Meeting")],
                            ),
                        ),
                        ("title", models.CharField(max_length=200, blank=True)),
                        ("name", models.CharField(max_length=200, blank=True)),
                        ("phone", models.CharField(max_length=40, blank=True)),
                        ("email", models.CharField(max_length=254, blank=True)),
                        ("party_size", models.PositiveSmallIntegerField(default=1)),
                        ("starts_at", models.DateTimeField()),
                        ("ends_at", models.DateTimeField()),
                        ("notes", models.TextField(blank=True)),
                        (
                            "state",
                            models.CharField(
                                max_length=10,
                                default="confirmed",
                                choices=[("confirmed", "Confirmed"), ("cancelled", "Cancelled")],
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("cancelled_at", models.DateTimeField(null=True)),
                        (
                            "cancelled_by",
                            models.CharField(max_length=20, blank=True, help_text="customer, staff or agent"),
                        ),
                        ("cancel_effect_id", models.UUIDField(null=True)),
                        (
                            "calendar_effect_id",
                            models.UUIDField(null=True, help_text="what last told the connected calendar of it"),
                        ),
                        (
                            "calendar_url",
                            models.CharField(
                                max_length=2200, blank=True, help_text="where its event stands, if it does"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["starts_at", "id"],
                        "indexes": [
                            models.Index(fields=["organization", "resource", "starts_at"], name="booking_resource"),
                            models.Index(fields=["organization", "project_id", "starts_at"], name="booking_project"),
                            models.Index(fields=["organization", "persona_id"], name="booking_persona"),
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "project_id", "code"), name="one_booking_per_code"
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("effect_id__isnull", False)),
                                fields=("organization", "effect_id"),
                                name="one_booking_per_effect",
                            ),
                            models.CheckConstraint(
                                condition=models.Q(("ends_at__gt", models.F("starts_at"))), name="booking_has_length"
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("cancel_effect_id__isnull", False)),
                                fields=("organization", "cancel_effect_id"),
                                name="one_cancelled_booking_per_effect",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "CustomTool",
                    fields=[
                        ID,
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(
                                related_name="custom_tools", on_delete=models.CASCADE, to="projects.project"
                            ),
                        ),
                        ("name", models.CharField(max_length=64)),
                        ("definition", models.JSONField()),
                        ("version", models.PositiveIntegerField(default=1)),
                        ("is_enabled", models.BooleanField(default=True)),
                        ("is_removed", models.BooleanField(default=False)),
                        ("secrets", models.TextField(blank=True, editable=False)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                    ],
                    options={
                        "ordering": ["name"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "project", "name"), name="one_custom_tool_per_name"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "CustomToolVersion",
                    fields=[
                        ID,
                        ORGANIZATION,
                        (
                            "tool",
                            TenantForeignKey(related_name="versions", on_delete=models.CASCADE, to="tools.customtool"),
                        ),
                        ("number", models.PositiveIntegerField()),
                        ("definition", models.JSONField()),
                        ("is_enabled", models.BooleanField(default=True)),
                        ("is_removed", models.BooleanField(default=False)),
                        (
                            "author_id",
                            models.UUIDField(null=True, help_text="the member who saved it; none for an API key"),
                        ),
                        ("saved_at", models.DateTimeField(auto_now_add=True)),
                    ],
                    options={
                        "ordering": ["-number"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "tool", "number"), name="one_version_per_number"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "AfterAction",
                    fields=[
                        ID,
                        ORGANIZATION,
                        (
                            "effect",
                            TenantForeignKey(related_name="after_actions", on_delete=models.CASCADE, to="tools.effect"),
                        ),
                        ("index", models.PositiveSmallIntegerField()),
                        ("type", models.CharField(max_length=40)),
                        ("options", models.JSONField(default=dict)),
                        (
                            "state",
                            models.CharField(
                                max_length=10,
                                default="planned",
                                choices=[
                                    ("planned", "Planned"),
                                    ("done", "Done"),
                                    ("failed", "Failed"),
                                    ("skipped", "Skipped"),
                                ],
                            ),
                        ),
                        ("raw", models.TextField(blank=True)),
                        ("value", models.TextField(blank=True)),
                        ("error", models.TextField(blank=True)),
                        ("finished_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["effect_id", "index"],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "effect", "index"), name="one_after_action_per_index"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Promise",
                    fields=[
                        ID,
                        ORGANIZATION,
                        (
                            "tool",
                            models.CharField(max_length=120, blank=True, help_text="empty when no tool can serve it"),
                        ),
                        (
                            "effect",
                            TenantForeignKey(
                                null=True, related_name="promises", on_delete=models.CASCADE, to="tools.effect"
                            ),
                        ),
                        ("project_id", models.UUIDField()),
                        ("conversation_id", models.UUIDField()),
                        ("turn_id", models.UUIDField()),
                        ("message_id", models.UUIDField()),
                        ("quote", models.TextField()),
                        ("due_at", models.DateTimeField()),
                        (
                            "state",
                            models.CharField(
                                max_length=10,
                                default="open",
                                choices=[
                                    ("open", "Open: it is not kept yet"),
                                    ("kept", "Kept: it happened"),
                                    ("broken", "Broken: it did not happen, or no tool can do it"),
                                    ("withdrawn", "Withdrawn: it was taken back, or no longer wanted"),
                                ],
                            ),
                        ),
                        ("reason", models.CharField(max_length=300, blank=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("closed_at", models.DateTimeField(null=True)),
                    ],
                    options={
                        "ordering": ["created_at", "id"],
                        "indexes": [
                            models.Index(fields=["organization", "turn_id"], name="promise_turn"),
                            models.Index(fields=["organization", "effect"], name="promise_effect"),
                            models.Index(
                                fields=["organization", "project_id", "state", "-created_at"], name="promise_project"
                            ),
                            models.Index(condition=models.Q(("state", "open")), fields=["due_at"], name="promise_due"),
                            models.Index(
                                condition=models.Q(("state", "broken")), fields=["closed_at"], name="promise_broken"
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "KeptCase",
                    fields=[
                        ID,
                        ("name", models.CharField(max_length=120)),
                        ("answer", models.TextField()),
                        ("conversation", models.JSONField(blank=True, default=list)),
                        ("channel", models.CharField(max_length=20)),
                        ("expected", models.JSONField(blank=True, default=dict)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        (
                            "created_by",
                            models.ForeignKey(
                                null=True, editable=False, on_delete=models.SET_NULL, to=settings.AUTH_USER_MODEL
                            ),
                        ),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(
                                related_name="kept_cases", on_delete=models.CASCADE, to="projects.project"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["created_at", "id"],
                        "indexes": [
                            models.Index(fields=["organization", "project", "-created_at"], name="kept_case_project")
                        ],
                    },
                ),
                migrations.CreateModel(
                    "PlatformDefinition",
                    fields=[
                        ("name", models.CharField(primary_key=True, max_length=64, serialize=False)),
                        ("category", models.CharField(max_length=40, blank=True)),
                        (
                            "description",
                            models.TextField(help_text="{{business}}, {{agent}} and {{channel}} are filled in."),
                        ),
                        (
                            "section",
                            models.TextField(
                                blank=True, help_text="how a model is to use it, under ## Available Tools"
                            ),
                        ),
                        ("parameters", models.JSONField(blank=True, null=True)),
                        ("seed", models.CharField(max_length=64, blank=True, editable=False)),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                    ],
                    options={"ordering": ["name"]},
                ),
                migrations.CreateModel(
                    "Escalation",
                    fields=[
                        ID,
                        ("conversation_id", models.UUIDField()),
                        ("turn_id", models.UUIDField(null=True)),
                        ("effect_id", models.UUIDField(null=True)),
                        ("reason", models.CharField(max_length=500)),
                        (
                            "state",
                            models.CharField(
                                max_length=10,
                                default="offered",
                                choices=[
                                    ("offered", "Offered: the customer was shown the button"),
                                    ("waiting", "Waiting: the customer asked for a person"),
                                    ("claimed", "Claimed: a colleague has the conversation"),
                                    ("resolved", "Resolved"),
                                ],
                            ),
                        ),
                        ("lead", models.JSONField(default=dict)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("requested_at", models.DateTimeField(null=True)),
                        ("claimed_at", models.DateTimeField(null=True)),
                        ("resolved_at", models.DateTimeField(null=True)),
                        (
                            "claimed_by",
                            models.ForeignKey(
                                null=True, related_name="+", on_delete=models.SET_NULL, to=settings.AUTH_USER_MODEL
                            ),
                        ),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(
                                related_name="escalations", on_delete=models.CASCADE, to="projects.project"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-created_at"],
                        "constraints": [
                            models.UniqueConstraint(
                                condition=models.Q(("state", "resolved"), _negated=True),
                                fields=("organization", "conversation_id"),
                                name="one_open_escalation",
                            )
                        ],
                        "indexes": [
                            models.Index(fields=["organization", "project", "-created_at"], name="escalation_recent"),
                            models.Index(
                                condition=models.Q(("state", "waiting")),
                                fields=["organization", "project", "requested_at"],
                                name="escalation_waiting",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "Ticket",
                    fields=[
                        ID,
                        ("number", models.PositiveIntegerField()),
                        ("conversation_id", models.UUIDField(null=True)),
                        ("persona_id", models.UUIDField(null=True)),
                        ("effect_id", models.UUIDField(null=True)),
                        ("subject", models.CharField(max_length=120)),
                        ("body", models.TextField()),
                        (
                            "priority",
                            models.CharField(
                                max_length=6,
                                default="normal",
                                choices=[("low", "Low"), ("normal", "Normal"), ("high", "High"), ("urgent", "Urgent")],
                            ),
                        ),
                        (
                            "state",
                            models.CharField(
                                max_length=8,
                                default="open",
                                choices=[
                                    ("open", "Open"),
                                    ("pending", "Pending: the customer is asked"),
                                    ("closed", "Closed"),
                                ],
                            ),
                        ),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ("updated_at", models.DateTimeField(auto_now=True)),
                        ("closed_at", models.DateTimeField(null=True)),
                        (
                            "assignee",
                            models.ForeignKey(
                                null=True, related_name="+", on_delete=models.SET_NULL, to=settings.AUTH_USER_MODEL
                            ),
                        ),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(related_name="tickets", on_delete=models.CASCADE, to="projects.project"),
                        ),
                    ],
                    options={
                        "ordering": ["-number"],
                        "indexes": [
                            models.Index(fields=["organization", "project", "-updated_at"], name="ticket_recent")
                        ],
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "project", "number"), name="one_ticket_per_number"
                            ),
                            models.UniqueConstraint(
                                condition=models.Q(("effect_id__isnull", False)),
                                fields=("organization", "effect_id"),
                                name="one_ticket_per_effect",
                            ),
                        ],
                    },
                ),
                migrations.CreateModel(
                    "TicketChange",
                    fields=[
                        ID,
                        ("actor", models.CharField(max_length=200)),
                        ("actor_id", models.BigIntegerField(null=True)),
                        ("before", models.JSONField(default=dict)),
                        ("after", models.JSONField(default=dict)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ORGANIZATION,
                        (
                            "ticket",
                            TenantForeignKey(related_name="changes", on_delete=models.CASCADE, to="tools.ticket"),
                        ),
                    ],
                    options={"ordering": ["created_at", "id"]},
                ),
                migrations.CreateModel(
                    "OperatorNotice",
                    fields=[
                        ID,
                        ("sent_at", models.DateTimeField()),
                        ("is_delivered", models.BooleanField(default=False)),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(
                                related_name="operator_notices", on_delete=models.CASCADE, to="projects.project"
                            ),
                        ),
                        ("member", TenantForeignKey(related_name="+", on_delete=models.CASCADE, to="projects.member")),
                    ],
                    options={
                        "constraints": [
                            models.UniqueConstraint(
                                fields=("organization", "project", "member"), name="one_operator_notice"
                            )
                        ]
                    },
                ),
                migrations.CreateModel(
                    "Verification",
                    fields=[
                        ID,
                        ("persona_id", models.UUIDField()),
                        ("conversation_id", models.UUIDField()),
                        ("method", models.CharField(max_length=8)),
                        ("verified_at", models.DateTimeField(auto_now_add=True)),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(
                                related_name="verifications", on_delete=models.CASCADE, to="projects.project"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-verified_at"],
                        "indexes": [
                            models.Index(
                                fields=["organization", "persona_id", "-verified_at"], name="verification_recent"
                            )
                        ],
                    },
                ),
                migrations.CreateModel(
                    "VerificationCode",
                    fields=[
                        ID,
                        ("persona_id", models.UUIDField()),
                        ("conversation_id", models.UUIDField()),
                        ("effect_id", models.UUIDField(null=True)),
                        ("digest", models.CharField(max_length=64, editable=False)),
                        ("sent_by", models.CharField(max_length=5, help_text="sms or email")),
                        ("tries", models.PositiveSmallIntegerField(default=0)),
                        ("expires_at", models.DateTimeField()),
                        ("used_at", models.DateTimeField(null=True)),
                        ("created_at", models.DateTimeField(auto_now_add=True)),
                        ORGANIZATION,
                        (
                            "project",
                            TenantForeignKey(
                                related_name="verification_codes", on_delete=models.CASCADE, to="projects.project"
                            ),
                        ),
                    ],
                    options={
                        "ordering": ["-created_at"],
                        "indexes": [
                            models.Index(fields=["organization", "persona_id", "-created_at"], name="code_recent")
                        ],
                    },
                ),
            ]
        ),
        combine(
            tenant_table("tools_verdict", append_only=True),
            tenant_table("tools_effect", parents=PROJECT),
            tenant_table("tools_afteraction", parents=EFFECT),
            tenant_table("tools_promise", parents={**PROJECT, **EFFECT}),
            tenant_table("tools_customtool", parents=PROJECT),
            tenant_table("tools_customtoolversion", parents={"tool_id": "tools_customtool"}, append_only=True),
            tenant_table("tools_resource", parents=PROJECT),
            tenant_table("tools_booking", parents={**PROJECT, "resource_id": "tools_resource"}),
            foreign_key("tools_booking", "effect_id", "tools_effect"),
            foreign_key("tools_booking", "cancel_effect_id", "tools_effect"),
            tenant_table("tools_keptcase", parents=PROJECT),
            # The same for every tenant: read by all, written by the platform's people.
            "revoke insert, update, delete, truncate on tools_platformdefinition from mg_app",
            tenant_table("tools_escalation", parents={**PROJECT, **EFFECT}),
            tenant_table("tools_ticket", parents={**PROJECT, **EFFECT}),
            tenant_table("tools_ticketchange", parents={"ticket_id": "tools_ticket"}, append_only=True),
            tenant_table("tools_operatornotice", parents={**PROJECT, "member_id": "projects_member"}),
            tenant_table("tools_verification", parents=PROJECT),
            tenant_table("tools_verificationcode", parents={**PROJECT, **EFFECT}),
        ),
    ]
