"""Reads whose text is made once: the tenant, the values and the joined rows are each run's own."""

from __future__ import annotations

from uuid import UUID, uuid4

import pytest
from django.db import OperationalError, connection

from conversations.models import Conversation, Persona
from conversations.services import start_conversation
from projects.compiled import Compiled, together
from projects.models import Project
from projects.tenancy import NoTenant
from tests.conftest import Tenant


@pytest.fixture
def named() -> Compiled[Project]:
    """Made anew for each test: what was made for one tenant is then asked by another."""
    return Compiled(lambda slug: Project.objects.filter(pk=slug), kinds=(UUID,))


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
    personas = Compiled(lambda persona: Persona.objects.filter(pk=persona), kinds=(UUID,))
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
    assert named._sql.count("organization_id") >= 2
    assert UUID(int=0xFFFF_0000) in named._parameters


def test_no_tenant_no_rows(database, named):
    with pytest.raises(NoTenant):
        named(uuid4())


def test_joined_rows_come_along(tenant, django_assert_num_queries):
    spoken = talk(tenant, "guest")
    joined = Compiled(
        lambda conversation: Conversation.objects.select_related("persona", "directives").filter(pk=conversation),
        kinds=(UUID,),
    )
    with tenant.tx():
        [found] = joined(spoken.pk)
        with django_assert_num_queries(0):
            assert found.persona.external_id == "guest"
            assert found.directives is None
            assert found.metadata == {"table": 4}


def test_several_reads_are_one_exchange(tenant, named):
    spoken = talk(tenant, "guest")
    personas = Compiled(lambda persona: Persona.objects.filter(pk=persona), kinds=(UUID,))
    with tenant.tx():
        with together():
            project, persona, nobody = named.ask(tenant.project.pk), personas.ask(spoken.persona_id), named.ask(uuid4())
        assert [one.pk for one in (*project(), *persona(), *nobody())] == [tenant.project.pk, spoken.persona_id]


def test_a_refused_read_of_several_ends_the_transaction(tenant, named):
    with pytest.raises(OperationalError), tenant.tx(), together():
        named.ask(tenant.project.pk)
        connection.cursor().execute("select pg_terminate_backend(pg_backend_pid())")
    connection.close()
