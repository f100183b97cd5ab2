"""Ownership of e-mail addresses: an unconfirmed claim gives way to a later one.

Anyone can sign up with anyone's address. Until the address is confirmed or the account is used:

* another sign-up, or an invitation to the address, takes it over (`release_address`)
* a confirmation link works only in a browser that knows the password (`may_confirm`)
* the address alone is not enough to be added as a member (`is_unconfirmed`)

A password reset confirms the address that received its link (`confirm_by_mail`).
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


def is_unconfirmed(user: User) -> bool:
    """True if the user signed up with this address and never confirmed it. Accounts created by the operator are
    trusted.
    """
    return bool(EmailAddress.objects.filter(user=user, email__iexact=user.email, verified=False).exists())


def find_unclaimed(email: str) -> User | None:
    """The account that holds an address without confirming it, signing in or joining an organization; None if there is
    none.
    """
    user = User.objects.filter(email__iexact=email, last_login=None, is_staff=False).first()
    if user is None or not is_unconfirmed(user) or find_organizations(user_id=user.pk):
        return None
    return user


def release_address(email: str) -> None:
    """Release an address held by an unclaimed account, and deactivate that account. Does nothing if there is none."""
    with transaction.atomic():
        user = find_unclaimed(email)
        if user is None:
            return
        EmailAddress.objects.filter(user=user).delete()
        user.email, user.is_active = f"given-up-{user.pk}@account.invalid", False
        user.set_unusable_password()
        user.save(update_fields=["email", "is_active", "password"])


def may_confirm(request: HttpRequest, user: User) -> bool:
    """True if this browser knows the account's password: it has just signed up or in, or is signed in.

    Otherwise the recipient of an unrequested link could confirm an account whose password someone else knows.
    """
    login = unstash_login(request, peek=True)
    pending = login.user.pk if login and login.user else None
    return user.pk in (request.user.pk, pending)


@receiver(password_reset)
def confirm_by_mail(user: User, **kwargs: Any) -> None:
    """Confirm the account's address after a reset by e-mail, if it is the account's only one."""
    if EmailAddress.objects.filter(user=user).count() == 1:
        EmailAddress.objects.filter(user=user, email__iexact=user.email).update(verified=True)
