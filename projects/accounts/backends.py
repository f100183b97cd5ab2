"""Authentication by e-mail and password."""

from __future__ import annotations

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest

from projects.models import User
from tenancy.prepared_queries import PreparedQuery

# Every page of a member runs this.
_USER = PreparedQuery(lambda pk: User.objects.filter(pk=pk), kinds=(int,), is_shared=True)


class PasswordBackend(AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """The only backend that checks passwords. The others serve the sessions that name them.

    With several, Django would hash a wrong password once for each.
    """

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> AbstractBaseUser | None:
        """The user, or None without a password. Raises PermissionDenied for a wrong one, which ends the search."""
        user: AbstractBaseUser | None = super().authenticate(request, **credentials)
        if user is None and credentials.get("password"):
            raise PermissionDenied
        return user

    def get_user(self, user_id: int) -> User | None:
        """The user of a session, unless deactivated or deleted."""
        user = next(iter(_USER(user_id)), None)
        return user if user and self.user_can_authenticate(user) else None
