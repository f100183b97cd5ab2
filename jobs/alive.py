"""A file that a worker touches while its event loop turns, for probes that would otherwise have to start a program."""

from __future__ import annotations

import asyncio
from pathlib import Path

from django.conf import settings

# A probe may restart a worker whose file is older than thirty seconds.
TOUCH_SECONDS = 5.0


async def touch_alive_file() -> None:
    """Touch `MAKEGOOD_ALIVE_FILE` every few seconds. Without the setting, do nothing until cancelled.

    Raises OSError if the file can't be written. PostgreSQL and Redis play no part: starting a worker again wouldn't
    bring them back.
    """
    while True:
        if settings.ALIVE_FILE:
            Path(settings.ALIVE_FILE).touch()
        await asyncio.sleep(TOUCH_SECONDS)
