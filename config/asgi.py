"""The ASGI application: Django behind the body limit."""

from __future__ import annotations

import os
from typing import Any, cast

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

from django.core.asgi import get_asgi_application

from projects.api.body_limit import BodyLimit

application = BodyLimit(cast(Any, get_asgi_application()))
