"""The health check of the web process."""

from __future__ import annotations

import http.client


def is_healthy(host: str, port: int, *, name: str) -> bool:
    """True if GET /healthz for the site `name` returns 200. It returns 503 while PostgreSQL is down."""
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/healthz", headers={"Host": name})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
