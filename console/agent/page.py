"""Context shared by the configuration pages."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext

from console.agent.form_fields import FormFields
from console.agent.sections import BUSINESS, HOURS, OTHER_TABS, SECTIONS, Section, complete
from console.agent.step_tools import step_tools
from console.layout import shell_context
from console.timestamps import format_timestamp
from conversations.models import Channel
from projects.agents.agent_versions import ChangedMeanwhile
from projects.agents.drafts import read_draft
from projects.agents.hours_text import Contradiction, find_contradictions
from projects.agents.prompt_budget import PromptBudget, prompt_budget
from projects.agents.prompt_size import measure_prompt
from projects.agents.templates_catalogue import are_example_hours, leftover_examples
from projects.common.differences import differences
from projects.models import AgentVersion
from projects.models.agent_errors import SettingsRefused, checked_config
from projects.models.permissions import Entry
from tenancy.scope import tenant_tx

# For members with developer tools.
DEVELOPER_TABS = frozenset({"attributes"})
CHANNELS = dict(Channel.choices)


def page_context(request: HttpRequest, entry: Entry, *, tab: str) -> dict[str, Any]:
    """Layout, tabs, the published version and the draft, from which an edit starts."""
    with tenant_tx(entry.project.organization.pk):
        state = read_draft(entry.project)
    live, zone = state.published, state.published.config.timezone
    slug = entry.project.slug
    tabs = [(section.slug, section.title) for section in SECTIONS] + list(OTHER_TABS)
    if not entry.member.developer_tools:
        tabs = [(name, title) for name, title in tabs if name not in DEVELOPER_TABS]
    return {
        **shell_context(request, entry),
        "tabs": [{"title": title, "url": tab_url(slug, name), "is_open": name == tab} for name, title in tabs],
        "live": version_facts(live, zone=zone),
        "draft": {**version_facts(state.draft, zone=zone), "changes": state.changes} if state.draft else None,
        "newest": version_facts(state.newest, zone=zone),
        "started_from": state.newest.number,
        "document": complete(state.newest.document),
    }


def form_context(
    request: HttpRequest,
    entry: Entry,
    section: Section,
    *,
    changes: Mapping[str, Any] | None = None,
    errors: Mapping[str, str] | None = None,
    conflict: ChangedMeanwhile | None = None,
) -> dict[str, Any]:
    """A section's form: the saved values, or the submitted ones with their errors or a conflicting save."""
    context = page_context(request, entry, tab=section.slug)
    document = {**context["document"], **(conflict.values if conflict else changes or {})}
    tools = step_tools(entry.project, document) if section.slug == "scenarios" else None
    fields = FormFields(errors or {}, warnings=tools.warnings if tools else {})
    context["tool_names"] = tools.names if tools else []
    context["form"] = section.show(document, fields)
    context["section"] = section
    context["unplaced"] = fields.unplaced()
    context["conflict"] = _conflict(conflict) if conflict else None
    if section.has_budget:
        context["budget"] = budget = _budget(entry, context["document"])
        context["budget_channel"] = CHANNELS.get(budget.channel, budget.channel) if budget else ""
    if section.slug in ("business", "procedures", "intents", "hours"):
        context["contradictions"] = _contradictions(document, section)
    if section is BUSINESS:
        context["made_up"] = leftover_examples(document["business_context"])
    if section is HOURS:
        with tenant_tx(entry.project.organization.pk):
            context["is_example"] = are_example_hours(entry.project, document["hours"])
    return context


def tab_url(slug: str, tab: str) -> str:
    return reverse("agent", kwargs={"project_slug": slug, "section": tab})


def version_facts(version: AgentVersion, *, zone: str) -> dict[str, Any]:
    """A version's metadata for a template, with times in the business's zone."""
    return {
        "number": version.number,
        "author": version.author.name if version.author else "Makegood",
        "note": version.note,
        "is_draft": version.is_draft,
        "saved": format_timestamp(version.created_at, zone=zone),
    }


def newer_version(context: Mapping[str, Any], *, seen: int) -> str:
    """A sentence about the version that was published or saved since version `seen`: by whom and when."""
    live, newest = context["live"], context["newest"]
    if live["number"] > seen:
        sentence = gettext("%(author)s published version %(number)s %(when)s, while this page was open.")
        return sentence % {"author": live["author"], "number": live["number"], "when": live["saved"].ago}
    sentence = gettext("%(author)s changed the draft %(when)s, while this page was open.")
    return sentence % {"author": newest["author"], "when": newest["saved"].ago}


def _conflict(conflict: ChangedMeanwhile) -> dict[str, Any]:
    saved = {name: complete(conflict.latest.document)[name] for name in conflict.values}
    return {
        **version_facts(conflict.latest, zone=conflict.latest.config.timezone),
        "changes": differences(saved, conflict.values),
    }


def _contradictions(document: Mapping[str, Any], section: Section) -> list[Contradiction]:
    """The section's texts that contradict the opening hours; all of them beside the hours."""
    return [found for found in find_contradictions(document) if section is HOURS or found.field == section.slug]


def _budget(entry: Entry, document: Mapping[str, Any]) -> PromptBudget | None:
    """The prompt budget of the saved settings; None if they are no longer valid."""
    with tenant_tx(entry.project.organization.pk), suppress(SettingsRefused):
        return prompt_budget(measure_prompt(entry.project, checked_config(document)))
    return None
