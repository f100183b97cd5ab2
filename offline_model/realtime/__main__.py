"""Serves the offline providers of calls and, below /messengers, of messages."""

from __future__ import annotations

import argparse

from aiohttp import web

from offline_model.messengers.server import OfflineMessengers
from offline_model.realtime.server import OfflineCalls

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--host", default="127.0.0.1")
parser.add_argument("--port", type=int, default=8091)
options = parser.parse_args()
app = OfflineCalls().app()
app.add_subapp("/messengers", OfflineMessengers().app())
web.run_app(app, host=options.host, port=options.port, print=None, shutdown_timeout=0.5)
