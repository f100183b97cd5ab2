"""Reads whose text is made once: the tenant, the values and the joined rows are each run's own."""

from __future__ import annotations

import gc
import inspect
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib import import_module
from pkgutil import walk_packages
from threading import Barrier
from uuid import UUID, uuid4

import pytest
from django.db import DatabaseError, connection

from conversations.models import Conversation, Persona
from conversations.turns.services import start_conversation
from projects.models import Project
from tenancy.prepared_queries import PreparedQuery, PreparedValues
from tenancy.scope import NoTenant
from tests.conftest import Tenant


@pytest.fixture
def named() -> PreparedQuery[Project]:
    """Made anew for each test: what was made for one tenant is then asked by another."""
    return PreparedQuery(lambda slug: Project.objects.filter(pk=slug), kinds=(UUID,))


def talk(tenant: Tenant, guest: str) -> Conversation:
    with tenant.tx():
        return start_conversation(tenant.project, channel="chat", external_id=guest, known={}, metadata={"table": 4})


def test_a_read_gives_whole_rows(tenant, named):
    with tenant.tx():
        [found] = named(tenant.project.pk)
        assert vars(found).keys() == vars(Project.objects.get(pk=tenant.project.pk)).keys()
        assert found == tenant.project
        assert found.name == tenant.project.name


def test_nobody_is_found_by_a_value_that_no_row_has(tenant, named):
    with tenant.tx():
        assert named(uuid4()) == []


def test_each_run_has_its_own_values(tenant):
    first, second = talk(tenant, "one"), talk(tenant, "two")
    personas = PreparedQuery(lambda persona: Persona.objects.filter(pk=persona), kinds=(UUID,))
    with tenant.tx():
        names = [personas(one.persona_id)[0].external_id for one in (first, second, first)]
    assert names == ["one", "two", "one"]


def test_each_run_asks_for_its_own_tenant(tenant, stranger, named):
    with tenant.tx():
        assert named(tenant.project.pk)
    with stranger.tx():
        assert named(tenant.project.pk) == []
        assert named(stranger.project.pk)


def test_the_tenant_stands_in_the_text_itself(tenant, stranger, named):
    """The first wall holds without the third: the statement names the organization, whatever row-level security does."""
    with stranger.tx():
        named(stranger.project.pk)
    assert named.text.sql.count("organization_id") >= 2
    assert (0, str(UUID(int=0xFFFF_0000)).encode()) in named.text._parameters


def test_no_tenant_no_rows(database, named):
    with pytest.raises(NoTenant):
        named(uuid4())


def test_joined_rows_come_along(tenant, django_assert_num_queries):
    spoken = talk(tenant, "guest")
    joined = PreparedQuery(
        lambda conversation: Conversation.objects.select_related("persona", "directives").filter(pk=conversation),
        kinds=(UUID,),
    )
    with tenant.tx():
        [found] = joined(spoken.pk)
        with django_assert_num_queries(0):
            assert found.persona.external_id == "guest"
            assert found.directives is None
            assert found.metadata == {"table": 4}


def test_values_are_rows_without_models(tenant):
    spoken = talk(tenant, "guest")
    values = PreparedValues(
        lambda persona: Persona.objects.filter(pk=persona).values_list("external_id", "created_at", "project__name"),
        kinds=(UUID,),
    )
    with tenant.tx():
        persona = Persona.objects.get(pk=spoken.persona_id)
        assert values(persona.pk) == [("guest", persona.created_at, tenant.project.name)]


def test_threads_that_need_a_read_first_at_the_same_moment_all_get_it(tenant):
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def names(read: PreparedQuery[Project], together: Barrier) -> list[str]:
        together.wait()
        with closing(connection), tenant.tx():
            return [project.name for project in read(tenant.project.pk)]

    try:
        for _ in range(10):
            read = PreparedQuery(
                lambda key: Project.objects.select_related("agent_version").filter(pk=key), kinds=(UUID,)
            )
            together = Barrier(4)
            with ThreadPoolExecutor(4) as threads:
                found = [threads.submit(names, read, together) for _ in range(4)]
            assert [one.result() for one in found] == [[tenant.project.name]] * 4
    finally:
        sys.setswitchinterval(before)


def reads() -> list[PreparedValues]:
    """Every read that a module has made, also what its functions have made so far."""
    for app in ("projects", "jobs", "tools", "todos", "conversations"):
        for module in walk_packages(import_module(app).__path__, f"{app}."):
            if ".migrations" not in module.name:
                import_module(module.name)
    # By its type: a lazy object asked for its class would make what it stands for.
    return [one for one in gc.get_objects() if issubclass(type(one), PreparedValues)]


def test_the_server_understands_every_read(tenant):
    """Values go without their types: where a statement doesn't say what one is, it must be told (`Cast`)."""
    refused = {}
    for read in reads():
        try:
            with tenant.tx():
                read(*read._stand_ins)
        except DatabaseError as error:
            refused[inspect.getsource(read._build)] = str(error)
    assert refused == {}
