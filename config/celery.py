"""The Celery app. Its messages are hints; the truth is the Job row (design section 3)."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("makegood")
app.config_from_object("config.celery_settings")
app.autodiscover_tasks()
