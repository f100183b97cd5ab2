"""The probes, and a page that doesn't exist."""

from __future__ import annotations

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.db import DatabaseError, connection
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse

from tenancy.replica import REPLICA, replica_lag_seconds


@login_required
def no_such_page(request: HttpRequest, **place: str) -> HttpResponse:
    """404 for a library's URL that the product doesn't offer, or for one of a project that no page has.

    The 404 of a view is shown in the console's shell, that of the resolver is not.
    """
    raise Http404


async def livez(request: HttpRequest) -> JsonResponse:
    """200 while the event loop turns, also without PostgreSQL: starting again wouldn't bring that back."""
    return JsonResponse({"status": "ok"})


def healthz(request: HttpRequest) -> JsonResponse:
    """200 while PostgreSQL answers. Without Redis the status is "degraded": work is delayed by seconds, but not lost."""
    database, broker = _database_answers(), _redis_answers()
    status = "ok" if database and broker else "degraded" if database else "down"
    body: dict[str, object] = {"status": status, "postgresql": database, "redis": broker}
    if REPLICA in settings.DATABASES:
        body["replica_lag_seconds"] = replica_lag_seconds() if database else None
    return JsonResponse(body, status=200 if database else 503)


def _database_answers() -> bool:
    try:
        with connection.cursor() as cursor:
            cursor.execute("select 1")
            return True
    except DatabaseError:
        return False


def _redis_answers() -> bool:
    try:
        with redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1) as client:
            return bool(client.ping())
    except redis.RedisError:
        return False
