"""The audit log of changes to an organization's people, keys, connections and articles, and to its members' sign-in
methods.
"""

from __future__ import annotations

from django.db import models

from tenancy.tenant_models import TenantModel


class AuditAction(models.TextChoices):
    """The action. Its label is the verb between the actor and the subject."""

    INVITED = "invitation.sent", "invited"
    INVITED_AGAIN = "invitation.renewed", "invited again"
    UNINVITED = "invitation.revoked", "took back the invitation of"
    JOINED = "member.joined", "joined"
    ADDED = "member.added", "added"
    ROLE_CHANGED = "member.role", "gave another role to"
    REMOVED = "member.removed", "removed"
    LEFT = "member.left", "left"
    PASSKEY_ADDED = "factor.passkey_added", "added the passkey"
    PASSKEY_RENAMED = "factor.passkey_renamed", "renamed the passkey"
    PASSKEY_REMOVED = "factor.passkey_removed", "removed the passkey"
    PASSKEY_COPIED = "factor.passkey_copied", "was refused with what may be a copy of the passkey"
    APP_ON = "factor.app_on", "turned on the codes of an app"
    APP_OFF = "factor.app_off", "turned off the codes of an app"
    RECOVERY_CODES = "factor.recovery_codes", "made new recovery codes"
    FACTOR_TAKEN = "factor.taken", "took a way of signing in from"
    KEY_MADE = "key.made", "made the key"
    KEY_CHANGED = "key.changed", "changed the key"
    KEY_REVOKED = "key.revoked", "revoked the key"
    KEY_RESTORED = "key.restored", "took back the revocation of the key"
    CONNECTED = "integration.connected", "connected"
    CONNECTION_CHANGED = "integration.changed", "changed the connection of"
    DISCONNECTED = "integration.disconnected", "disconnected"
    ARTICLE_WRITTEN = "article.written", "wrote the article"
    ARTICLE_CHANGED = "article.changed", "changed the article"
    ARTICLE_PUBLISHED = "article.published", "published the article"
    ARTICLE_UNPUBLISHED = "article.unpublished", "took back the article"
    ARTICLE_DELETED = "article.deleted", "deleted the article"
    ARTICLE_RESTORED = "article.restored", "restored the article"
    WIDGET_CHANGED = "widget.changed", "changed"
    WIDGET_SECRET = "widget.secret", "made a new shopper secret for"
    LIMIT_LIFTED = "limit.lifted", "lifted for a day"
    LIMIT_CHANGED = "limit.changed", "changed"
    CUSTOMERS_MERGED = "customer.merged", "merged the customer"
    DEVELOPER_TOOLS = "member.developer_tools", "changed the developer tools of"
    EXPORTED = "list.exported", "exported"
    CUSTOMER_EXPORTED = "customer.exported", "exported everything about"
    CUSTOMER_ERASED = "customer.erased", "erased"
    ORGANIZATION_EXPORTED = "organization.exported", "exported everything of"
    DELETION_REQUESTED = "organization.deletion_requested", "requested the deletion of"
    DELETION_CANCELLED = "organization.deletion_cancelled", "took back the deletion of"


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
