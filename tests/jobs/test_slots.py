"""The shares of tenants in a worker's slots."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID, uuid4

from jobs.lanes import Lane
from jobs.slots import KNOWN_FOR_SECONDS, OwnModels, Pool, Slots
from tests.conftest import Tenant
from tests.conversations.pipeline.conftest import configure
from tests.jobs.conftest import add, take

OWN = "https://models.example/v1"


def filled(pool: Pool, tenant: UUID) -> int:
    """The number of slots that the tenant gets if it takes as many as it may."""
    taken = 0
    while pool.free and tenant not in pool.full_tenants():
        pool.take(tenant)
        taken += 1
    return taken


def test_each_further_tenant_gets_half_of_what_is_left() -> None:
    pool = Pool(64)
    assert [filled(pool, uuid4()) for _ in range(4)] == [32, 16, 8, 4]


def test_tenants_that_go_on_end_with_equal_shares() -> None:
    pool, tenants = Pool(64), [uuid4() for _ in range(3)]
    held = {tenant: filled(pool, tenant) for tenant in tenants}
    for _ in range(200):
        for tenant in tenants:
            pool.give_back(tenant)
            held[tenant] += filled(pool, tenant) - 1
    assert set(held.values()) <= {15, 16, 17}


def test_a_claim_takes_at_most_half_of_what_is_free(tenant: Tenant, queue_lane: Lane) -> None:
    slots = Slots(replace(queue_lane, slots=8), OwnModels())
    claimed = []
    for _ in range(8):
        add(tenant, queue_lane)
    for job in take(queue_lane, 8):
        claimed.append(slots.most_to_claim)
        slots.take(job)
    assert claimed == [4, 2, 2, 2, 2, 1, 1, 1]
    assert not slots.has_room


def test_tenants_with_their_own_model_take_no_slots_of_the_others(
    tenant: Tenant, stranger: Tenant, queue_lane: Lane
) -> None:
    """However many sign up and let their model be slow."""
    configure(tenant, model_base_url=OWN)
    own_models = OwnModels()
    slots = Slots(replace(queue_lane, slots=4), own_models)
    for _ in range(5):
        add(tenant, queue_lane)
    own_models.read([tenant.organization.pk, stranger.organization.pk])
    for job in take(queue_lane, 5):
        slots.take(job)
    assert slots.has_room
    assert slots.held_back() == {tenant.organization.pk}


def test_a_slot_is_counted_once_and_freed_once(tenant: Tenant, queue_lane: Lane) -> None:
    slots = Slots(replace(queue_lane, slots=1), OwnModels())
    add(tenant, queue_lane)
    [job] = take(queue_lane)
    slots.take(job)
    slots.take(job)
    slots.give_back(job)
    slots.give_back(job)
    assert slots.has_room
    assert not slots.held_back()


def test_the_newest_settings_say_whose_model_is_used(tenant: Tenant) -> None:
    now, organization = 1000.0, tenant.organization.pk
    own_models = OwnModels(clock=lambda: now)
    configure(tenant, model_base_url=OWN)
    own_models.read([organization])
    assert own_models.has(organization)
    configure(tenant, model_base_url="")
    now += KNOWN_FOR_SECONDS
    own_models.read([organization])
    assert not own_models.has(organization)


def test_a_tenant_with_its_own_model_is_not_forgotten_while_it_waits(tenant: Tenant, stranger: Tenant) -> None:
    """It may wait for minutes for a slot, while only others are claimed."""
    now = 1000.0
    own_models = OwnModels(clock=lambda: now)
    configure(tenant, model_base_url=OWN)
    own_models.read([tenant.organization.pk])
    now += KNOWN_FOR_SECONDS
    own_models.read([stranger.organization.pk])
    assert own_models.all() == {tenant.organization.pk}


def test_a_waiting_tenant_that_returns_to_the_operators_model_gets_the_shared_slots(tenant: Tenant) -> None:
    now = 1000.0
    own_models = OwnModels(clock=lambda: now)
    configure(tenant, model_base_url=OWN)
    own_models.read([tenant.organization.pk])
    configure(tenant, model_base_url="")
    now += KNOWN_FOR_SECONDS
    own_models.read([])
    assert not own_models.all()
