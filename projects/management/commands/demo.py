"""Creates or updates the demo organization, and prints its credentials."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from itertools import count
from typing import Any
from uuid import UUID

from django.core.management.base import BaseCommand, CommandParser
from django.utils.crypto import salted_hmac

from projects.agents.services import FIRST_NOTE, create_key, create_organization, create_project, save_agent
from projects.demo.shop import business, connect_store, find_shop
from projects.models import AgentVersion, ApiKey, Project, User
from projects.models.agent_config import AgentConfig
from projects.models.attribute_catalogue import KIND_LIMITS
from projects.models.key import Scope
from projects.models.organization import lock_project
from projects.models.seeds import plant_seeds
from projects.records.attributes import resolve_attributes, set_attribute
from projects.widget.widgets import WidgetEdit, find_widget, renew_shopper_secret, save_widget
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_organizations

EMAIL = "demo@makegood.example"
KEY_NAME = "Demo"
UPDATED = "The demo's own settings"
# The notes of versions that nobody edited.
OWN_NOTES = (FIRST_NOTE, UPDATED)
# Trying the demo out, or measuring it, takes more messages in a day than a business sends.
LIMITS = tuple(KIND_LIMITS[kind, "max_per_project"] for kind in ("sms", "email", "verification_code"))
TRIED_OUT = 10_000
OUTSIDE_CONFIG = ("organization", "project", "attributes", "seeds", "widget", "orders")


class Command(BaseCommand):
    # `migrate` has just run the system checks.
    requires_system_checks = ()
    help = "Create or update the demo organization (a restaurant and its web shop), and print its credentials."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object only")

    def handle(self, *args: Any, **options: Any) -> None:
        trattoria, shop = business("restaurant"), business("shop")
        password = _password()
        user = _user(password)
        organization_id = _organization(user, trattoria["organization"])
        with tenant_tx(organization_id):
            project = _project(user, trattoria, existing=Project.objects.order_by("created_at").first())
            connect_store(_project(user, shop, existing=find_shop()))
            key = _key(project)
        credentials = {"api_key": key, "email": EMAIL, "password": password, "project": project.slug}
        self.stdout.write(json.dumps(credentials) if options["json"] else _sentence(credentials))


def _password() -> str:
    """A password derived from SECRET_KEY, so that it stays the same for an installation."""
    digest = salted_hmac("projects.demo", EMAIL, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest[:9]).decode()


def _key(project: Project) -> str:
    """An API key derived from SECRET_KEY, so that it stays the same for an installation; the next one if it was
    revoked.

    Concurrent calls return the same key.
    """
    lock_project(project.pk)
    for number in count():
        secret = _nth_key(project, number)
        existing = ApiKey.objects.filter(digest=ApiKey.digest_of(secret)).first()
        if existing is None or existing.is_usable:
            break
    # Earlier demo keys, whose secrets can no longer be printed.
    ours = ApiKey.objects.filter(project=project, name=KEY_NAME, created_by=None, revoked_at=None)
    ours.exclude(digest=ApiKey.digest_of(secret)).delete()
    if existing is None:
        create_key(project, name=KEY_NAME, scopes=list(Scope), throttled=False, secret=secret)
    return secret


def _nth_key(project: Project, number: int) -> str:
    """The n-th derived key, in the format of every API key."""
    digest = salted_hmac("projects.demo.key", f"{project.pk}:{number}", algorithm="sha512").digest()
    return f"mg_{digest[:4].hex()}_{base64.urlsafe_b64encode(digest[4:36]).decode().rstrip('=')}"


def _user(password: str) -> User:
    user = User.objects.filter(email=EMAIL).first() or User.objects.create_user(EMAIL)
    user.first_name, user.last_name = "Lucia", "Marchetti"
    # Hashing the same password with a new salt would end its sessions.
    if not user.has_usable_password() or not user.check_password(password):
        user.set_password(password)
    user.save()
    return user


def _organization(user: User, name: str) -> UUID:
    owned = find_organizations(user_id=user.pk)
    return owned[0] if owned else create_organization(name, owner=user, developer_tools=True).pk


def _project(user: User, business: Mapping[str, Any], *, existing: Project | None) -> Project:
    """A project with the settings, seeds and widget of its file. Settings that changed in the file become a new version,
    unless somebody has saved their own.
    """
    config = AgentConfig.model_validate({key: value for key, value in business.items() if key not in OUTSIDE_CONFIG})
    project = existing or create_project(business["project"], config=config, author=user)
    is_outdated = project.agent_version is None or project.agent_version.config != config
    if is_outdated and not AgentVersion.objects.filter(project=project).exclude(note__in=OWN_NOTES).exists():
        save_agent(project, config=config, author=user, note=UPDATED)
    for key, value in business["attributes"].items():
        set_attribute(project, key, value)
    own = resolve_attributes(project)
    for key in LIMITS:
        if key not in own:
            set_attribute(project, key, TRIED_OUT)
    plant_seeds(project, business["seeds"])
    _widget(project, business["widget"])
    return project


def _widget(project: Project, theme: Mapping[str, Any]) -> None:
    """Create the business's widget, unless it has one."""
    if find_widget(project.pk) is None:
        save_widget(project, WidgetEdit(origins=[], theme=theme, is_enabled=True), by=None)
        renew_shopper_secret(project, by=None)


def _sentence(credentials: dict[str, str]) -> str:
    return "\n".join(f"{name}: {value}" for name, value in credentials.items())
