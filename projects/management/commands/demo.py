"""Loads the demo organization, once, and says how to enter it."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandParser

from projects.agent import AgentConfig
from projects.attributes import set_attribute
from projects.lookups import find_organizations
from projects.models import ApiKey, Project, User
from projects.models.key import Scope
from projects.seeds import plant_seeds
from projects.services import create_key, create_organization, create_project, save_agent
from projects.tenancy import tenant_tx
from projects.widgets import WidgetEdit, find_widget, renew_shopper_secret, save_widget

EMAIL = "demo@makegood.example"
BUSINESS = Path(__file__).resolve().parents[2] / "demo" / "restaurant.json"
OUTSIDE_CONFIG = ("organization", "project", "attributes", "seeds")


class Command(BaseCommand):
    help = "Load the demo organization (a trattoria), or bring it up to date, and print how to enter it as JSON."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print nothing but one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        business = json.loads(BUSINESS.read_text())
        # Shown on this machine's own screen and file only; a new one each time, so none is written down anywhere.
        password = secrets.token_urlsafe(9)
        user = _user(password)
        organization_id = _organization(user, business["organization"])
        with tenant_tx(organization_id):
            project = _project(user, business)
            _widget(project)
            ApiKey.objects.filter(project=project, name="Demo").delete()
            key = create_key(project, name="Demo", scopes=list(Scope), throttled=False)
        answer = {"api_key": key.secret, "email": EMAIL, "password": password, "project": project.slug}
        self.stdout.write(json.dumps(answer) if options["json"] else _sentence(answer))


def _user(password: str) -> User:
    user = User.objects.filter(email=EMAIL).first() or User.objects.create_user(EMAIL)
    user.first_name, user.last_name = "Lucia", "Marchetti"
    user.set_password(password)
    user.save()
    return user


def _organization(user: User, name: str) -> UUID:
    owned = find_organizations(user_id=user.pk)
    return owned[0] if owned else create_organization(name, owner=user).pk


def _project(user: User, business: dict[str, Any]) -> Project:
    """The demo project with the settings and seeds of the file; a change of the settings becomes a new version."""
    config = AgentConfig.model_validate({key: value for key, value in business.items() if key not in OUTSIDE_CONFIG})
    project = Project.objects.select_related("agent_version").first()
    if project is None:
        project = create_project(business["project"], config=config, author=user)
    elif project.agent_version is None or project.agent_version.config != config:
        save_agent(project, config=config, author=user, note="The demo's own settings")
    for key, value in business["attributes"].items():
        set_attribute(project, key, value)
    plant_seeds(project, business["seeds"])
    return project


def _widget(project: Project) -> None:
    """The widget that the demo's shop shows; what somebody has made of it since stays."""
    if find_widget(project) is None:
        theme = {"brand": "#7b2d26", "greeting": "Ciao! Ask me about a table or the menu."}
        save_widget(project, WidgetEdit(origins=[], theme=theme, is_enabled=True), by=None)
        renew_shopper_secret(project, by=None)


def _sentence(answer: dict[str, str]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in answer.items())
