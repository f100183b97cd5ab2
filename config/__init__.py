"""Settings, URLs and entry points. `celery -A config` finds the app here."""

from config.celery import app as celery_app

__all__ = ["celery_app"]
