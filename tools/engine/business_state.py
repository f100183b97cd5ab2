"""The state of a business that its tools depend on, read once so that offering tools is a pure function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Count, Exists, Max, OuterRef, QuerySet, Subquery, Value
from django.db.models.fields.json import KeyTextTransform

from projects.common.verticals import VERTICALS, Capability
from projects.models import AgentVersion, Article, Project, Source
from projects.models.agent_config import AgentConfig, CallerVerification, EscalationRule
from projects.records.attributes import Resolved, attributes_column, read_column
from tenancy.prepared_queries import PreparedQuery
from tools.engine.platform import invalidate_if_changed
from tools.engine.transfers import TRANSFER_NUMBERS, TransferNumber, read_numbers
from tools.models import CustomTool, PlatformDefinition, Resource

# A source of one of these kinds is a calendar. It limits the times of resources; without one, nothing can be booked.
CALENDAR_KINDS = frozenset({"google_calendar", "caldav"})
# Names that descriptions may interpolate in double braces.
PLACEHOLDERS = ("business", "agent", "channel")


@dataclass(frozen=True)
class BusinessState:
    """The settings and resources of a project, on one channel.

    `enabled_tools` is the allowlist; None allows all. `connected` holds the kinds of its working sources, `escalations`
    the actions of its escalation `rules`. `channel` is normalized: a webcall counts as a phone call. `has_own_tools` is
    true if the project has custom tools, `has_own_moments` if an enabled one sets `moments`; `approved_tools` are the
    enabled ones that require approval.
    """

    channel: str
    attributes: Mapping[str, Resolved] = field(default_factory=dict)
    vertical: str = "generic"
    capabilities: frozenset[Capability] = VERTICALS["generic"].capabilities
    enabled_tools: frozenset[str] | None = None
    connected: frozenset[str] = frozenset()
    escalations: frozenset[str] = frozenset()
    rules: Sequence[EscalationRule] = ()
    verification: CallerVerification = "none"
    has_book: bool = False
    has_articles: bool = False
    has_own_tools: bool = False
    has_own_moments: bool = False
    approved_tools: frozenset[str] = frozenset()
    business_name: str = ""
    agent_name: str = ""
    region: str = "US"

    @cached_property
    def transfer_numbers(self) -> Sequence[TransferNumber]:
        """The numbers a call may be transferred to, in order of the setting."""
        numbers = self.attributes.get(TRANSFER_NUMBERS)
        return read_numbers(numbers.value if numbers else None, region=self.region)

    @property
    def has_calendar(self) -> bool:
        """True if a calendar is connected and works."""
        return bool(self.connected & CALENDAR_KINDS)

    @property
    def names(self) -> Mapping[str, str]:
        """Values of the names that descriptions interpolate."""
        return dict(zip(PLACEHOLDERS, (self.business_name, self.agent_name, self.channel), strict=True))


def _definitions_aggregate(aggregate: Count | Max) -> Subquery:
    """A column with one aggregate over all stored definitions."""
    rows: QuerySet[Any, Any] = PlatformDefinition.objects.order_by().annotate(all=Value(1)).values("all")
    return Subquery(rows.annotate(figure=aggregate).values("figure"))


STATE_QUERY = PreparedQuery(
    lambda project: Project.objects.annotate(
        attributes_text=attributes_column(),
        connected=ArraySubquery(
            Source.objects.filter(project_id=OuterRef("pk"), is_enabled=True, needs_reauth=False).values("kind")
        ),
        has_book=Exists(Resource.objects.filter(project_id=OuterRef("pk"), is_active=True)),
        has_articles=Exists(Article.objects.filter(project_id=OuterRef("pk"), published_at__isnull=False)),
        has_own_tools=Exists(CustomTool.objects.filter(project_id=OuterRef("pk"), is_removed=False)),
        has_own_moments=Exists(
            CustomTool.objects.filter(project_id=OuterRef("pk"), is_enabled=True, definition__has_key="moments")
        ),
        approved_tools=ArraySubquery(
            CustomTool.objects.annotate(is_approved=KeyTextTransform("requires_approval", "definition"))
            .filter(project_id=OuterRef("pk"), is_enabled=True, is_removed=False, is_approved="true")
            .values("name")
        ),
        definitions=_definitions_aggregate(Count("pk")),
        newest_definition=_definitions_aggregate(Max("updated_at")),
    ).filter(pk=project),
    kinds=(UUID,),
)


def read_state(project: Project, *, channel: str, config: AgentConfig | None = None) -> BusinessState:
    """Read the state of the project on a channel, in the running transaction, with one query.

    `config` replaces the settings of the current agent version. The query also detects whether this process's cached
    platform definitions are out of date.
    """
    [columns] = map(vars, STATE_QUERY(project.pk))
    invalidate_if_changed(columns["definitions"] or 0, columns["newest_definition"])
    config = config or cast(AgentVersion, project.agent_version).config
    return build_state(config, read_column(columns["attributes_text"]), channel=channel, facts=columns)


def build_state(
    config: AgentConfig, attributes: Mapping[str, Resolved], *, channel: str, facts: Mapping[str, Any]
) -> BusinessState:
    """The state derived from an agent's settings, its attributes and the columns of FACTS."""
    return BusinessState(
        channel=normalize_channel(channel),
        attributes=attributes,
        vertical=config.vertical,
        capabilities=VERTICALS[config.vertical].capabilities,
        enabled_tools=None if config.enabled_tools is None else frozenset(config.enabled_tools),
        connected=frozenset(facts.get("connected", ())),
        escalations=frozenset(rule.action for rule in config.escalation_rules),
        rules=config.escalation_rules,
        verification=config.caller_verification,
        has_book=bool(facts.get("has_book")),
        has_articles=bool(facts.get("has_articles")),
        has_own_tools=bool(facts.get("has_own_tools")),
        has_own_moments=bool(facts.get("has_own_moments")),
        approved_tools=frozenset(facts.get("approved_tools", ())),
        business_name=config.business_name,
        agent_name=config.agent_name,
        region=config.region,
    )


def normalize_channel(channel: str) -> str:
    """The channel for gating: a webcall counts as a phone call."""
    return "phone" if channel == "webcall" else channel
