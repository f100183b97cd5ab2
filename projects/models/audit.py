"""The audit log of changes to an organization's people, keys, connections and articles, and to its members' sign-in
methods.
"""

from __future__ import annotations

from django.db import models

from projects.common.translation import plazy
from tenancy.tenant_models import TenantModel


class AuditAction(models.TextChoices):
    """The action. Its label is the verb between the actor and the subject."""

    INVITED = "invitation.sent", plazy("action", "invited")
    INVITED_AGAIN = "invitation.renewed", plazy("action", "invited again")
    UNINVITED = "invitation.revoked", plazy("action", "took back the invitation of")
    JOINED = "member.joined", plazy("action", "joined")
    ADDED = "member.added", plazy("action", "added")
    ROLE_CHANGED = "member.role", plazy("action", "gave another role to")
    REMOVED = "member.removed", plazy("action", "removed")
    LEFT = "member.left", plazy("action", "left")
    PASSKEY_ADDED = "factor.passkey_added", plazy("action", "added the passkey")
    PASSKEY_RENAMED = "factor.passkey_renamed", plazy("action", "renamed the passkey")
    PASSKEY_REMOVED = "factor.passkey_removed", plazy("action", "removed the passkey")
    PASSKEY_COPIED = "factor.passkey_copied", plazy("action", "was refused with what may be a copy of the passkey")
    APP_ON = "factor.app_on", plazy("action", "turned on the codes of an app")
    APP_OFF = "factor.app_off", plazy("action", "turned off the codes of an app")
    RECOVERY_CODES = "factor.recovery_codes", plazy("action", "made new recovery codes")
    FACTOR_TAKEN = "factor.taken", plazy("action", "took a way of signing in from")
    KEY_MADE = "key.made", plazy("action", "made the key")
    KEY_CHANGED = "key.changed", plazy("action", "changed the key")
    KEY_REVOKED = "key.revoked", plazy("action", "revoked the key")
    KEY_RESTORED = "key.restored", plazy("action", "took back the revocation of the key")
    CONNECTED = "integration.connected", plazy("action", "connected")
    CONNECTION_CHANGED = "integration.changed", plazy("action", "changed the connection of")
    DISCONNECTED = "integration.disconnected", plazy("action", "disconnected")
    ARTICLE_WRITTEN = "article.written", plazy("action", "wrote the article")
    ARTICLE_CHANGED = "article.changed", plazy("action", "changed the article")
    ARTICLE_PUBLISHED = "article.published", plazy("action", "published the article")
    ARTICLE_UNPUBLISHED = "article.unpublished", plazy("action", "took back the article")
    ARTICLE_DELETED = "article.deleted", plazy("action", "deleted the article")
    ARTICLE_RESTORED = "article.restored", plazy("action", "restored the article")
    WIDGET_CHANGED = "widget.changed", plazy("action", "changed")
    WIDGET_SECRET = "widget.secret", plazy("action", "made a new shopper secret for")
    LIMIT_LIFTED = "limit.lifted", plazy("action", "lifted for a day")
    LIMIT_CHANGED = "limit.changed", plazy("action", "changed")
    CUSTOMERS_MERGED = "customer.merged", plazy("action", "merged the customer")
    DEVELOPER_TOOLS = "member.developer_tools", plazy("action", "changed the developer tools of")
    EXPORTED = "list.exported", plazy("action", "exported")
    CUSTOMER_EXPORTED = "customer.exported", plazy("action", "exported everything about")
    CUSTOMER_ERASED = "customer.erased", plazy("action", "erased")
    ORGANIZATION_EXPORTED = "organization.exported", plazy("action", "exported everything of")
    DELETION_REQUESTED = "organization.deletion_requested", plazy("action", "requested the deletion of")
    DELETION_CANCELLED = "organization.deletion_cancelled", plazy("action", "took back the deletion of")


class AuditEntry(TenantModel):
    """One change, with the values before and after, without secrets. Entries are never changed.

    Names are copied, so that an entry stays readable after the person, key or project is deleted.
    """

    action = models.CharField(max_length=40, choices=AuditAction.choices)
    actor = models.CharField(max_length=400, help_text="who did it: name and e-mail as they were")
    actor_id = models.BigIntegerField(null=True, help_text="the user who did it; none for a command of the server's")
    subject = models.CharField(max_length=400, help_text="what it was done to, in words")
    project_name = models.CharField(max_length=120, blank=True, help_text="empty for what concerns them all")
    before = models.JSONField(default=dict)
    after = models.JSONField(default=dict)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.actor} {self.get_action_display()} {self.subject}"
