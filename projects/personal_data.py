"""Personal data in the tables of this app (`tenancy.personal_data`)."""

from __future__ import annotations

from django.contrib.admin.models import LogEntry
from django.utils.translation import gettext_noop

from projects import models
from tenancy.personal_data import Fate, TableContents

TABLES = (
    TableContents(
        models.AuditEntry,
        gettext_noop("Changes to members, keys, connections, articles and customers"),
        fate=Fate.SEARCHED,
        customer=("subject", "before", "after"),
        staff=("actor",),
        other=("action", "project_name"),
    ),
    TableContents(
        models.IdempotentRequest,
        gettext_noop("Responses to requests with an Idempotency-Key, for a day"),
        fate=Fate.SEARCHED,
        customer=("answer", "key"),
        other=("body_hash", "caller"),
    ),
    TableContents(
        LogEntry,
        gettext_noop("Changes in the administration"),
        fate=Fate.SEARCHED,
        customer=("object_id", "object_repr", "change_message"),
    ),
    TableContents(models.Organization, gettext_noop("The organization"), other=("name",)),
    TableContents(models.Project, gettext_noop("Projects"), other=("name", "slug")),
    TableContents(models.Member, gettext_noop("Memberships and roles"), other=("role",)),
    TableContents(
        models.Invitation, gettext_noop("Invitations of members"), staff=("email",), secret=("digest",), other=("role",)
    ),
    TableContents(
        models.ApiKey, gettext_noop("API keys, hashed"), secret=("digest",), other=("name", "prefix", "scopes")
    ),
    TableContents(models.AgentVersion, gettext_noop("Versions of the agent’s settings"), other=("document", "note")),
    TableContents(models.Attribute, gettext_noop("Settings"), secret=("secret",), other=("key", "type", "value")),
    TableContents(models.Article, gettext_noop("Articles"), other=("slug", "title", "excerpt", "body", "language")),
    TableContents(models.StoredBytes, gettext_noop("Storage used by projects"), other=("kind",)),
    TableContents(models.ArticleWord, gettext_noop("The articles’ search index"), other=("word",)),
    TableContents(
        models.Source,
        gettext_noop("Connections to other services, with encrypted credentials"),
        secret=("secret",),
        other=("kind", "settings"),
    ),
    TableContents(
        models.Widget,
        gettext_noop("The widget’s settings"),
        secret=("shopper_secret",),
        other=("public_key", "origins", "theme"),
    ),
)
