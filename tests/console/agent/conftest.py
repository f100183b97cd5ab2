"""A client for the settings pages that posts their forms."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from projects.models import AgentVersion
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
