"""PostgreSQL and Redis of this test run, started before Django reads its settings (pytest's `-p tests.services`)."""

from __future__ import annotations

import atexit
import os

from config.runner.embedded import EmbeddedServices

services = EmbeddedServices(durable=False).start()
atexit.register(services.stop)
os.environ.update(services.env)
os.environ.update(
    {
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "OPENAI_API_KEY": "test",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        "MAKEGOOD_OFFLINE": "1",
    }
)
