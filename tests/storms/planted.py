"""Five plausible bugs, planted into a worker to verify that the checker finds them."""

from __future__ import annotations

import threading
import time
from contextlib import suppress

import redis
from django.conf import settings

QUEUE = "planted:effects"


def plant(bug: str) -> None:
    """Plant one bug in this process."""
    BUGS[bug]()


def no_token_check() -> None:
    """A worker writes although another one has claimed its job."""
    from jobs import fence
    from tenancy.postgresql.prepared import Prepared

    anyone = "%s::bigint is not null and %s::text is not null"
    fence._HOLD = Prepared(f"select 1 from jobs_job where id = %s and {anyone} for no key update")
    fence._FINISH = Prepared(
        "update jobs_job set state = %s, error = %s, finished_at = clock_timestamp(), lease_until = null"
        f" where id = %s and {anyone} returning %s::text is null"
    )


def no_sending_commit() -> None:
    """`sending` is not committed before the first byte is sent."""
    from tools.engine import ledger

    def begin_in_memory(effect, *, callback_hash=""):
        effect.attempts += 1
        return True

    ledger.begin_sending = begin_in_memory


def no_sweep() -> None:
    """Nobody recovers the jobs of dead workers."""
    from jobs import runner

    runner.sweep = lambda: set()


def no_repeat_guard() -> None:
    """A second promise sends a second time."""
    from conversations.tool_runs.effects.conversation_run import ConversationRun

    assert "find_repeated" in vars(ConversationRun)
    ConversationRun.find_repeated = lambda run: None


def hint_instead_of_row() -> None:
    """Work is queued in Redis, and becomes a row only when it is received."""

    def listen() -> None:
        from jobs.enqueue import enqueue
        from tenancy.scope import tenant_tx
        from tools.engine.ledger import job_for
        from tools.models import Effect

        client = redis.Redis.from_url(settings.REDIS_URL)
        while True:
            with suppress(redis.RedisError):
                message = client.lpop(QUEUE)
                if isinstance(message, bytes):
                    organization, effect = message.decode().split()
                    with tenant_tx(organization):
                        enqueue([job_for(Effect.objects.get(pk=effect))])
            time.sleep(0.05)

    threading.Thread(target=listen, daemon=True).start()


BUGS = {
    bug.__name__: bug for bug in (no_token_check, no_sending_commit, no_sweep, no_repeat_guard, hint_instead_of_row)
}
