"""Prepared queries: tenant, values and joined rows are separate for each run."""

from __future__ import annotations

import gc
import inspect
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import timedelta
from importlib import import_module
from pkgutil import walk_packages
from threading import Barrier
from uuid import UUID, uuid4

import pytest
from django.db import DatabaseError, connection
from django.db.models import DurationField, Value
from django.db.models.functions import Cast, Now

from conversations.models import Conversation, Persona
from conversations.turns.services import start_conversation
from projects.models import Project
from tenancy.prepared_queries import PreparedCounts, PreparedQuery, PreparedValues
from tenancy.scope import NoTenant
from tests.conftest import Tenant


@pytest.fixture
def named() -> PreparedQuery[Project]:
    """A new query for each test, so that one tenant's query is later run by another."""
    return PreparedQuery(lambda slug: Project.objects.filter(pk=slug), kinds=(UUID,))


def talk(tenant: Tenant, guest: str) -> Conversation:
    with tenant.tx():
        return start_conversation(tenant.project, channel="chat", external_id=guest, known={}, metadata={"table": 4})


def test_a_query_returns_complete_instances(tenant, named):
    with tenant.tx():
        [found] = named(tenant.project.pk)
        assert vars(found).keys() == vars(Project.objects.get(pk=tenant.project.pk)).keys()
        assert found == tenant.project
        assert found.name == tenant.project.name


def test_an_unknown_value_finds_no_row(tenant, named):
    with tenant.tx():
        assert named(uuid4()) == []


def test_each_run_uses_its_own_values(tenant):
    first, second = talk(tenant, "one"), talk(tenant, "two")
    personas = PreparedQuery(lambda persona: Persona.objects.filter(pk=persona), kinds=(UUID,))
    with tenant.tx():
        names = [personas(one.persona_id)[0].external_id for one in (first, second, first)]
    assert names == ["one", "two", "one"]


def test_each_run_uses_its_own_tenant(tenant, stranger, named):
    with tenant.tx():
        assert named(tenant.project.pk)
    with stranger.tx():
        assert named(tenant.project.pk) == []
        assert named(stranger.project.pk)


def test_the_sql_filters_by_tenant(tenant, stranger, named):
    """The query filters by organization by itself, without relying on row-level security."""
    with stranger.tx():
        named(stranger.project.pk)
    assert named.text.sql.count("organization_id") >= 2
    assert (0, str(UUID(int=0xFFFF_0000)).encode()) in named.text._parameters


def test_a_query_raises_without_a_tenant(database, named):
    with pytest.raises(NoTenant):
        named(uuid4())


def test_related_rows_are_loaded(tenant, django_assert_num_queries):
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


def test_prepared_values_are_tuples(tenant):
    spoken = talk(tenant, "guest")
    values = PreparedValues(
        lambda persona: Persona.objects.filter(pk=persona).values_list("external_id", "created_at", "project__name"),
        kinds=(UUID,),
    )
    with tenant.tx():
        persona = Persona.objects.get(pk=spoken.persona_id)
        assert values(persona.pk) == [("guest", persona.created_at, tenant.project.name)]


def test_a_value_may_be_several_ids(tenant):
    one, other = talk(tenant, "one"), talk(tenant, "other")
    found = PreparedValues(
        lambda ids, personas: Conversation.objects.filter(pk__any=ids, persona_id__any=personas).values_list("pk"),
        kinds=(tuple, tuple),
    )
    with tenant.tx():
        both = (one.persona_id, other.persona_id)
        assert found((one.pk, other.pk), both[1:]) == [(other.pk,)]
        assert set(found((one.pk, other.pk), both)) == {(one.pk,), (other.pk,)}
        assert found((), both) == []
        assert [row.pk for row in Conversation.objects.filter(pk__any=[one.pk])] == [one.pk]


def test_rows_are_counted_up_to_the_limit_of_the_query(tenant):
    counts = PreparedCounts(
        lambda project: (
            Persona.objects.filter(project_id=project).values("pk"),
            Conversation.objects.filter(project_id=project).values("pk")[:2],
        ),
        kinds=(UUID,),
    )
    with tenant.tx():
        assert counts(tenant.project.pk) == (0, 0)
    for guest in ("one", "two", "three"):
        talk(tenant, guest)
    with tenant.tx():
        assert counts(tenant.project.pk) == (3, 2)


def test_concurrent_first_uses_all_succeed(tenant):
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


def all_queries() -> list[PreparedValues]:
    """Every prepared query of the product, including those that functions have created so far."""
    for app in ("projects", "jobs", "tools", "todos", "conversations", "console"):
        for module in walk_packages(import_module(app).__path__, f"{app}."):
            if ".migrations" not in module.name:
                import_module(module.name)
    # `type()`, because `isinstance` would evaluate lazy objects.
    return [one for one in gc.get_objects() if issubclass(type(one), PreparedValues)]


def test_the_server_accepts_every_prepared_query(tenant):
    """Values are sent without types. A statement that doesn't determine a type needs a `Cast`."""
    refused = {}
    for read in all_queries():
        try:
            with tenant.tx():
                read(*read._placeholders)
        except DatabaseError as error:
            refused[inspect.getsource(read._build)] = str(error)
    assert refused == {}


def test_a_constant_may_be_json_or_an_interval(tenant):
    row = talk(tenant, "one")
    recent = Now() - Cast(Value(timedelta(hours=1)), DurationField())
    tables = PreparedValues(
        lambda project: Conversation.objects.filter(
            project_id=project, metadata__table=4, created_at__gt=recent
        ).values_list("pk"),
        kinds=(UUID,),
    )
    with tenant.tx():
        assert tables(tenant.project.pk) == [(row.pk,)]
