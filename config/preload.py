"""Imports everything that the first turn would import, so that no customer waits for it. Requires Django's setup.

It opens no connection and starts no thread, because the fork server's processes start with it.
"""

from __future__ import annotations

import encodings.idna  # noqa: F401 - resolving the first host name imports it

import anyio._backends._asyncio  # noqa: F401
import psycopg_pool  # noqa: F401
from django.template.loaders import cached  # noqa: F401

import config.worker_telemetry  # noqa: F401
import jobs.tasks
import jobs.worker_status  # noqa: F401
import llm.call
import llm.realtime_sdk
import llm.sdk  # noqa: F401
from llm.prompts import TEMPLATES, part_template
from tools.engine.registry import builtin_tools

builtin_tools()
for _file in TEMPLATES.glob("*/*.md"):
    part_template(_file.parent.name, _file.name)
