"""The operator's page and `manage.py doctor` say the same."""

from __future__ import annotations

import io
import re
from html import unescape

import pytest
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from operations.finding import State
from operations.management.commands import doctor
from operations.report import examine
from operations.workers import find_workers
from projects.models import Role, User
from tests.conftest import PASSWORD, Tenant, member_of
from tests.processes import ForkServer, until
from tests.tenancy.conftest import browser


@pytest.fixture
def platform(database: None) -> Client:
    return browser(User.objects.create_superuser("platform@makegood.example", PASSWORD))


def run_doctor(*arguments: str) -> tuple[str, int]:
    """The output of the command and its exit code."""
    out = io.StringIO()
    try:
        call_command("doctor", *arguments, stdout=out)
    except SystemExit as end:
        return out.getvalue(), int(end.code or 0)
    return out.getvalue(), 0


def test_the_page_shows_each_section_to_a_superuser(platform: Client) -> None:
    answer = platform.get(reverse("admin:operation"))
    titles = re.findall(r"<h2 id=\"s\d+\">([^<]+)</h2>", answer.content.decode())
    assert [unescape(title) for title in titles] == [section.title for section in examine()]


@pytest.mark.parametrize("role", [Role.OWNER, Role.ADMIN, Role.VIEWER])
def test_the_page_is_for_superusers_only(role: Role, tenant: Tenant) -> None:
    user = tenant.owner if role == Role.OWNER else member_of(tenant, role)
    assert browser(user).get(reverse("admin:operation")).status_code == 403


def test_the_administration_links_the_page_for_superusers(platform: Client, tenant: Tenant) -> None:
    link = f'href="{reverse("admin:operation")}"'
    assert link in platform.get(reverse("admin:index")).content.decode()
    assert link not in browser(tenant.owner).get(reverse("admin:index")).content.decode()


def test_the_page_says_what_is_wrong_and_what_to_do(platform: Client) -> None:
    page = unescape(platform.get(reverse("admin:operation")).content.decode())
    assert "Problem" in page
    assert "No worker for replies answers" in page
    assert "Start bin/run replies." in page


def test_the_command_ends_with_1_when_something_is_wrong(database: None) -> None:
    text, code = run_doctor()
    assert code == 1
    assert (
        "BAD  Workers: No worker for replies answers, so no customer is answered.\n     → Start bin/run replies."
        in text
    )


def test_the_command_ends_with_0_when_nothing_is_wrong(processes: ForkServer) -> None:
    """Without TLS it is worth a look, which is an error only for those who want to know."""
    processes.worker()
    until(find_workers, what="an answer of the worker")
    text, code = run_doctor()
    assert (code, "BAD" in text) == (0, False), text
    assert run_doctor("--strict")[1] == 1


def test_the_command_says_all_that_the_page_says(database: None) -> None:
    text, _ = run_doctor("--tables")
    for section in examine():
        assert section.title in text
        assert all(table.head[0] in text for table in section.tables)


def test_each_state_has_a_mark() -> None:
    assert set(doctor.MARKS) == set(State)


def test_the_page_speaks_the_readers_language(platform: Client) -> None:
    page = platform.get(reverse("admin:operation"), headers={"accept-language": "de"}).content.decode()
    assert "Verschlüsselungsschlüssel" in page
    assert "Encryption keys" not in page
