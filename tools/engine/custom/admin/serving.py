"""Work on custom tools in their own organization, because platform staff see the tools of all."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast
from uuid import UUID

from django.http import HttpRequest
from django.urls import reverse
from django.utils.html import format_html

from projects.models import Member, Project
from tenancy.scope import tenant_tx
from tools.engine.custom.scenario_references import steps_naming_only
from tools.models import CustomTool

Result = TypeVar("Result")


def serve(tool: CustomTool, work: Callable[[Project], Result]) -> Result:
    """Run the work on the tool's project, in its organization."""
    with tenant_tx(cast(UUID, tool.organization_id)):
        return work(Project.objects.select_related("agent_version").get(pk=tool.project_id))


def member_of(request: HttpRequest) -> Member | None:
    """The member behind the request; None for platform staff, who belong to no organization."""
    return Member.objects.filter(user_id=cast(int, request.user.pk)).first()


def steps_left(tool: CustomTool) -> list[str]:
    """Links to the scenario steps that name the tool."""

    def links(project: Project) -> list[str]:
        page = reverse("agent", kwargs={"project_slug": project.slug, "section": "scenarios"})
        sentence = 'Step <a href="{}#{}">{} {}</a> of the scenarios uses it. Remove it there, too.'
        steps = steps_naming_only(project, tool.name)
        return [format_html(sentence, page, step.anchor, step.number, step.title) for step in steps]

    return serve(tool, links)
