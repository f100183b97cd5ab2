"""Models of tenants: organizations, members, projects, agents, keys and their settings."""

from projects.models.agent import AgentVersion
from projects.models.article import Article, ArticleWord
from projects.models.attribute import Attribute
from projects.models.audit import AuditAction, AuditEntry
from projects.models.idempotency import IdempotentRequest
from projects.models.invitation import Invitation
from projects.models.key import ApiKey
from projects.models.organization import Member, Organization, Project, Role
from projects.models.source import Source
from projects.models.storage import StoredBytes, StoredKind
from projects.models.user import User
from projects.models.widget import Widget

__all__ = [
    "AgentVersion",
    "ApiKey",
    "Article",
    "ArticleWord",
    "Attribute",
    "AuditAction",
    "AuditEntry",
    "IdempotentRequest",
    "Invitation",
    "Member",
    "Organization",
    "Project",
    "Role",
    "Source",
    "StoredBytes",
    "StoredKind",
    "User",
    "Widget",
]
