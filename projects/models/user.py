"""Users. A user belongs to no tenant; memberships do."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.db import models


class UserManager(BaseUserManager["User"]):
    def create_user(self, email: str, password: str | None = None, **fields: Any) -> User:
        """Create a user. Without a password, sign-in by password is disabled."""
        user = self.model(email=self.normalize_email(email), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> User:
        """Create a member of the platform staff, who see every tenant in the admin."""
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)


class User(AbstractUser):
    username = None  # type: ignore[assignment]  # users sign in with their e-mail
    email = models.EmailField("e-mail", unique=True)
    single_keys = models.BooleanField(default=True, help_text="shortcuts of the console that are a single key")
    language = models.CharField(
        max_length=8, blank=True, default="", help_text="of the interface; empty for the browser’s"
    )
    browser_language = models.CharField(
        max_length=8, blank=True, default="", editable=False, help_text="of the browser that last signed in"
    )

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []

    objects: ClassVar[UserManager] = UserManager()  # type: ignore[assignment]

    @property
    def name(self) -> str:
        """The full name, or the local part of the e-mail."""
        return self.get_full_name() or self.email.split("@")[0]

    @property
    def initials(self) -> str:
        words = self.name.replace(".", " ").split()
        return "".join(word[0] for word in words[:2]).upper()
