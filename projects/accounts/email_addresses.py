"""Whose an e-mail address is: it belongs to nobody until it is confirmed, and a claim that nobody made good gives way.

An account can be signed up with anybody's address. Until the address is confirmed, or the account is used:
- another sign-up, or an invitation to that address, gets the address (`free_address`);
- its link of confirmation counts in the browser of whoever knows the password only (`may_confirm`);
- nobody makes it a member by its address alone (`is_doubtful`).
A password set by a link in an e-mail confirms the address that the e-mail reached (`confirm_by_mail`).
"""

from __future__ import annotations

from typing import Any

from allauth.account.internal.stagekit import unstash_login
from allauth.account.models import EmailAddress
from allauth.account.signals import password_reset
from django.db import transaction
from django.dispatch import receiver
from django.http import HttpRequest

from projects.models import User
from tenancy.tenant_lookup import find_organizations


def is_doubtful(user: User) -> bool:
    """Whether someone signed up with this address and never confirmed it. Whom the operator made is beyond doubt."""
    return bool(EmailAddress.objects.filter(user=user, email__iexact=user.email, verified=False).exists())


def unclaimed(email: str) -> User | None:
    """The account that holds an address without having confirmed it, or signed in, or joined an organization."""
    user = User.objects.filter(email__iexact=email, last_login=None, is_staff=False).first()
    if user is None or not is_doubtful(user) or find_organizations(user_id=user.pk):
        return None
    return user


def free_address(email: str) -> None:
    """Take an address from an unclaimed account, which is closed. Does nothing where there is none."""
    with transaction.atomic():
        user = unclaimed(email)
        if user is None:
            return
        EmailAddress.objects.filter(user=user).delete()
        user.email, user.is_active = f"given-up-{user.pk}@account.invalid", False
        user.set_unusable_password()
        user.save(update_fields=["email", "is_active", "password"])


def may_confirm(request: HttpRequest, user: User) -> bool:
    """Whether this browser knows the account's password: it has just signed up or in, or is signed in.

    Whoever gets a link they didn't ask for would else confirm the account of somebody who knows its password.
    """
    login = unstash_login(request, peek=True)
    pending = login.user.pk if login and login.user else None
    return user.pk in (request.user.pk, pending)


@receiver(password_reset)
def confirm_by_mail(user: User, **kwargs: Any) -> None:
    """The link that set the password was e-mailed, so it reached the account's address, if that is its only one."""
    if EmailAddress.objects.filter(user=user).count() == 1:
        EmailAddress.objects.filter(user=user, email__iexact=user.email).update(verified=True)
