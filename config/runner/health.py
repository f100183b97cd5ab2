"""Whether the web process answers."""

from __future__ import annotations

import http.client


def is_healthy(host: str, port: int, *, name: str) -> bool:
    """Whether GET /healthz for the site `name` is answered with 200 (it is 503 while PostgreSQL is down)."""
    connection = http.client.HTTPConnection(host, port, timeout=5)
    try:
        connection.request("GET", "/healthz", headers={"Host": name})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
