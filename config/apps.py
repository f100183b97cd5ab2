"""The app that installs our admin site."""

from __future__ import annotations

from django.contrib.admin.apps import AdminConfig


class MakegoodAdminConfig(AdminConfig):
    default_site = "config.admin.MakegoodAdmin"
