"""The ASGI application: Django behind the body limit."""

from __future__ import annotations

import os
from typing import Any, cast

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

import warnings

from django.core.asgi import get_asgi_application

from projects.api.body_limit import BodyLimit

# WhiteNoise reads files synchronously; Django serves them from a thread, and would say so at every start.
warnings.filterwarnings("ignore", message="StreamingHttpResponse must consume synchronous iterators")

application = BodyLimit(cast(Any, get_asgi_application()))
