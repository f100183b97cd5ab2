"""A client for the settings pages that posts their forms."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from projects.models import AgentVersion, Project
from tests.conftest import Tenant
from tests.console.agent.controls import controls_of


class Settings:
    """A user editing a tenant's agent settings."""

    def __init__(self, tenant: Tenant, user: Any) -> None:
        self.tenant = tenant
        self.client = Client()
        self.client.force_login(user)

    def address(self, section: str = "business") -> str:
        return reverse("agent", kwargs={"project_slug": self.tenant.project.slug, "section": section})

    def page(self, section: str = "business", **query: object) -> str:
        return self.client.get(self.address(section), query).content.decode()

    def form(self, section: str = "business") -> dict[str, str]:
        """The form as currently rendered."""
        return controls_of(self.page(section))

    def save(self, form: dict[str, str], section: str = "business", **changes: str) -> Any:
        """Post a previously opened form with changes; `__` in names stands for dots."""
        return self.client.post(self.address(section), {**form, **_dotted(changes)})

    def change(self, section: str = "business", **changes: str) -> Any:
        """Open a section, change fields and save."""
        return self.save(self.form(section), section, **changes)

    def publish(self, **changes: str) -> Any:
        """Publish the draft as the page shows it."""
        page = self.client.get(self.address("publish"))
        return self.client.post(self.address("publish"), {"started_from": page.context["started_from"], **changes})

    def publish_change(self, section: str = "business", **changes: str) -> None:
        """Save a change and publish it."""
        assert self.change(section, **changes).status_code == 302
        assert self.publish().status_code == 302

    @property
    def live(self) -> AgentVersion:
        """The published version."""
        with self.tenant.tx():
            version = Project.objects.select_related("agent_version").get(pk=self.tenant.project.pk).agent_version
        assert version
        return version

    @property
    def versions(self) -> list[AgentVersion]:
        """Newest first."""
        with self.tenant.tx():
            return list(AgentVersion.objects.filter(project=self.tenant.project).select_related("author"))

    @property
    def document(self) -> dict[str, Any]:
        return self.versions[0].document


def _dotted(changes: dict[str, str]) -> dict[str, str]:
    return {name.replace("__", "."): value for name, value in changes.items()}


@pytest.fixture
def owner(tenant: Tenant) -> Settings:
    return Settings(tenant, tenant.owner)
