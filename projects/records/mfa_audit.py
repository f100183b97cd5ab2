"""Audit entries for changes of a user's sign-in methods, written to every organization that the user belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.core.ratelimit import consume
from allauth.mfa.models import Authenticator
from django.http import HttpRequest

from projects.models import AuditAction, User
from projects.records.audit import person, record_change
from tenancy.scope import tenant_tx
from tenancy.tenant_lookup import find_organizations


def record_factor_change(
    action: AuditAction,
    *,
    user: User,
    by: User | None = None,
    subject: str = "",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Write one entry per organization, in the current transaction if there is one. `by` and `subject` default to the
    user.
    """
    for organization_id in find_organizations(user_id=user.pk):
        with tenant_tx(organization_id):
            record_change(
                action,
                organization_id=organization_id,
                by=by or user,
                subject=subject or person(user),
                before=before,
                after=after,
            )


def report_cloned_passkey(request: HttpRequest, factor: Authenticator) -> None:
    """Report a use that indicates a cloned passkey: an e-mail to its owner and audit entries, at most once an hour."""
    if consume(request, action="passkey_copied", key=str(factor.pk)):
        record_factor_change(AuditAction.PASSKEY_COPIED, user=factor.user, subject=str(factor))
        get_adapter(request).send_notification_mail("mfa/email/webauthn_copied", factor.user)
