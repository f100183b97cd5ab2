"""Open streams end when their caller loses access: at once after a hint, otherwise at the next check."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import pytest
from django.db.models.functions import Now
from django.test import AsyncClient

from conversations.live import stream
from conversations.live.stream import Frames
from conversations.live.stream_auth import Admission, OpenStream, ScopeCheck, _checks
from projects.accounts.members import remove_member, set_role
from projects.agents.services import revoke_key
from projects.models import ApiKey, Member, Role, User
from projects.records.audit import Actor
from tenancy.threads import in_db
from tests.conftest import Tenant, member_of
from tests.conversations.tool_runs.conftest import turns
from tests.conversations.tool_runs.turns import Turns
from tests.live_hub import close_hub

__all__ = ["turns"]

# Less than PING_SECONDS: nothing but a hint ends a stream so soon.
AT_ONCE = 8
SOON = 20
CHECKS = "conversations.live.stream_auth.RECHECK_SECONDS"

KEY_CHANGES: dict[str, dict[str, Any]] = {
    "revoked": {"revoked_at": Now()},
    "expired": {"expires_at": Now()},
    "narrowed": {"scopes": ["write"]},
    "named anew": {"name": "another"},
}


@pytest.fixture
def checks_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CHECKS, -1)
    monkeypatch.setattr(stream, "PING_SECONDS", (0.02, 0.02))


async def opened(turns: Turns, user: User | None = None) -> Any:
    """A stream of this member, or of the tenant's key."""
    client, headers, query = AsyncClient(), {}, ""
    if user is None:
        headers = turns.tenant.headers
    else:
        await client.aforce_login(user)
        query = f"?project={turns.tenant.project.slug}"
    response = await client.get(f"/api/v1/conversations/{turns.conversation.pk}/events{query}", headers=headers)
    assert response.status_code == 200, response.content
    await anext(response.streaming_content)
    return response


def goes_on(turns: Turns, change: Callable[[], object], *, user: User | None = None, seconds: float = SOON) -> bool:
    """True if the stream still sends after the change. It may send a few pieces before it ends."""

    async def run() -> bool:
        response = await opened(turns, user)
        await in_db(change)
        try:
            async with asyncio.timeout(seconds):
                pieces = [piece async for piece, _ in _first(response.streaming_content, 5)]
            return len(pieces) == 5
        except TimeoutError:
            return True
        finally:
            await response._iterator.aclose()
            await close_hub()

    return asyncio.run(run())


async def _first(pieces: Any, count: int) -> Any:
    for number in range(count):
        try:
            yield await anext(pieces), number
        except StopAsyncIteration:
            return


def actor(tenant: Tenant) -> Actor:
    member = Member.objects.get(user=tenant.owner)
    return Actor(user=tenant.owner, role=Role.OWNER, member_id=member.pk)


def remove(tenant: Tenant, user: User) -> None:
    with tenant.tx():
        remove_member(Member.objects.get(user=user), by=actor(tenant))


def demote(tenant: Tenant, user: User) -> None:
    with tenant.tx():
        set_role(Member.objects.get(user=user), role=Role.VIEWER, by=actor(tenant))


def revoke(tenant: Tenant) -> None:
    with tenant.tx():
        revoke_key(ApiKey.objects.get(digest=ApiKey.digest_of(tenant.key)), by=tenant.owner)


@pytest.mark.parametrize("change", [remove, demote])
def test_a_members_stream_ends_at_once_after_a_removal_or_a_new_role(
    change: Callable[[Tenant, User], None], turns: Turns
) -> None:
    user = member_of(turns.tenant, Role.OPERATOR)
    assert not goes_on(turns, lambda: change(turns.tenant, user), user=user, seconds=AT_ONCE)


def test_a_keys_stream_ends_at_once_after_its_revocation(turns: Turns) -> None:
    assert not goes_on(turns, lambda: revoke(turns.tenant), seconds=AT_ONCE)


def test_the_streams_of_others_go_on_after_a_removal(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "PING_SECONDS", (0.05, 0.05))
    user = member_of(turns.tenant, Role.OPERATOR)
    assert goes_on(turns, lambda: remove(turns.tenant, user), user=turns.tenant.owner)


def test_a_removal_that_is_rolled_back_ends_no_stream(turns: Turns, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "PING_SECONDS", (0.05, 0.05))
    user = member_of(turns.tenant, Role.OPERATOR)

    class Undone(Exception):
        pass

    def try_to_remove() -> None:
        with pytest.raises(Undone), turns.tenant.tx():
            remove_member(Member.objects.get(user=user), by=actor(turns.tenant))
            raise Undone

    assert goes_on(turns, try_to_remove, user=user)


@pytest.mark.usefixtures("checks_always")
@pytest.mark.parametrize("change", ["removed", "deactivated", "nothing"])
def test_a_members_stream_ends_at_the_next_check_without_a_hint(change: str, turns: Turns) -> None:
    user, tenant = member_of(turns.tenant, Role.OPERATOR), turns.tenant

    def apply() -> None:
        with tenant.tx():
            if change == "removed":
                Member.objects.filter(user=user).delete()
            elif change == "deactivated":
                User.objects.filter(pk=user.pk).update(is_active=False)

    assert goes_on(turns, apply, user=user) == (change == "nothing")


@pytest.mark.usefixtures("checks_always")
@pytest.mark.parametrize(("change", "is_left_open"), [(name, name == "named anew") for name in KEY_CHANGES])
def test_an_api_clients_stream_ends_soon_after_its_key_is_revoked(
    change: str, is_left_open: bool, turns: Turns
) -> None:
    """A revoked key opens nothing, and the streams it opened end."""

    def apply() -> None:
        with turns.tenant.tx():
            ApiKey.objects.filter(digest=ApiKey.digest_of(turns.tenant.key)).update(**KEY_CHANGES[change])

    assert goes_on(turns, apply) == is_left_open


def test_a_hint_while_the_client_reads_ends_the_stream_before_the_next_wait(tenant: Tenant) -> None:
    """The stream waits for its client then, and not for its next frames."""
    admission = Admission("user:1", frozenset, frozenset())
    open_stream, waits = OpenStream(admission), list[str]()
    _checks[admission.name] = ScopeCheck(time.monotonic(), frozenset())

    async def frames() -> Frames:
        waits.append("first")
        yield [stream.PINGED]
        waits.append("second")
        yield [stream.PINGED]

    async def run() -> None:
        async for _ in open_stream.frames(frames()):
            open_stream.put([{"lost": "user:2"}, {"lost": "user:1"}])

    asyncio.run(run())
    assert waits == ["first"]


def test_a_client_that_leaves_is_not_taken_for_a_hint() -> None:
    """Its task stays canceled."""
    open_stream = OpenStream(Admission("user:1", frozenset, frozenset()))

    async def frames() -> Frames:
        await asyncio.Event().wait()
        yield [stream.PINGED]

    async def run() -> None:
        async def read() -> None:
            async for _ in open_stream.frames(frames()):
                pass

        reading = asyncio.ensure_future(read())
        await asyncio.sleep(0)
        open_stream.put([{"lost": "user:1"}])
        reading.cancel()
        await asyncio.wait({reading})
        assert reading.cancelled()

    asyncio.run(run())
