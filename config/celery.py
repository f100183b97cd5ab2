"""The Celery app. Its messages only wake workers; the Job rows are authoritative."""

from __future__ import annotations

import os
from typing import Any

from celery import Celery
from celery.signals import worker_ready

from config.memory import settle

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("makegood")
app.config_from_object("config.celery_settings")
app.autodiscover_tasks()


@worker_ready.connect
def settle_worker(**_: Any) -> None:
    """Settle memory once everything is loaded."""
    settle()
