"""The editor of custom tools in the Django admin: one page with the console's parts, versions, import, export and copies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from projects.agents.services import create_project
from projects.models import Project
from projects.models.agent_config import AgentConfig
from tests.conftest import Tenant
from tests.tenancy.conftest import browser, make_platform_user
from tests.tools.conftest import Tools
from tests.tools.examples import NAME, event, registration, webhook
from tools.engine.custom import service
from tools.engine.custom.secrets import secret_names, set_secret_headers
from tools.models import CustomTool

LIST = reverse("admin:tools_customtool_changelist")
ADD = reverse("admin:tools_customtool_add")
IMPORT = reverse("admin:tools_customtool_import")


@pytest.fixture
def owner(tenant: Tenant) -> Client:
    return browser(tenant.owner)


@pytest.fixture
def second(tenant: Tenant) -> Project:
    """Another project of the same organization."""
    with tenant.tx():
        config = AgentConfig(agent_name="Bar", business_name="Bar")
        return create_project("Bar", config=config, author=tenant.owner)


def url_of(tools: Tools, page: str, name: str = NAME) -> str:
    return reverse(f"admin:tools_customtool_{page}", args=[tools.row(name).pk])


def names_in(tenant: Tenant, project: Project) -> list[str]:
    with tenant.tx():
        return list(service.list_tools(project).values_list("name", flat=True))


def chosen(tools: Tools, action: str, *names: str, **fields: Any) -> dict[str, Any]:
    return {"action": action, "_selected_action": [str(tools.row(name).pk) for name in names or [NAME]], **fields}


def listed(owner: Client, query: str) -> list[str]:
    return [row.name for row in owner.get(f"{LIST}?{query}").context_data["cl"].result_list]  # type: ignore[attr-defined]


# The editor


def test_the_editor_is_the_consoles(owner: Client, tools: Tools) -> None:
    tools.save(NAME, event())
    names = {template.name for template in owner.get(url_of(tools, "change")).templates}
    assert {"tools/_editor.html", "tools/_try.html", "tools/_rehearsal.html", "tools/_secrets.html"} <= names


def test_a_new_tool_belongs_to_the_project_that_the_list_shows(owner: Client, second: Project) -> None:
    query = f"?project__id__exact={second.pk}"
    assert f'href="{ADD}{query}"' in owner.get(f"{LIST}{query}").content.decode()
    assert owner.get(f"{ADD}{query}").context["project"] == second


def test_names_of_secret_headers_are_listed_without_values(owner: Client, tools: Tools, tenant: Tenant) -> None:
    tools.save(NAME, webhook())
    with tenant.tx():
        set_secret_headers(CustomTool.objects.get(), {"X-Api-Key": "canary"})
    text = owner.get(url_of(tools, "change")).content.decode()
    assert 'data-header="X-Api-Key"' in text
    assert "canary" not in text


def test_a_refused_save_shows_the_differences_and_keeps_the_text(owner: Client, tools: Tools) -> None:
    tools.save(NAME, event())
    tools.save(NAME, event(description="Theirs"))
    body = {"text": json.dumps(event(description="Ours")), "expected_version": "1"}
    page = owner.post(url_of(tools, "change"), body)
    kinds = {line.text.strip(): line.kind for line in page.context["changes"]}
    assert kinds['"description": "Theirs",'] == "del"
    assert kinds['"description": "Ours",'] == "add"
    assert (json.loads(page.context["text"])["description"], page.context["expected_version"]) == ("Ours", "1")


def test_a_save_turns_the_tool_off_and_returns_to_the_editor(owner: Client, tools: Tools) -> None:
    tools.save(NAME, event())
    saved = owner.post(url_of(tools, "change"), {"text": json.dumps(event()), "expected_version": "1"})
    assert saved.headers["Location"] == url_of(tools, "change")
    assert not tools.row(NAME).is_enabled


def test_platform_staff_see_no_trial_because_the_api_serves_members(tools: Tools) -> None:
    tools.save(NAME, event())
    names = {template.name for template in browser(make_platform_user()).get(url_of(tools, "change")).templates}
    assert "tools/_editor.html" in names
    assert "tools/_try.html" not in names


# Versions


def test_versions_are_compared_and_restored(owner: Client, tools: Tools, tenant: Tenant) -> None:
    tools.save(NAME, event(description="First"))
    tools.save(NAME, event(description="Second"))
    page = owner.get(url_of(tools, "versions"))
    changed = {line.text.strip() for line in page.context["comparison"].lines if line.kind}
    assert changed == {'"description": "First",', '"description": "Second",'}
    owner.post(url_of(tools, "versions"), {"restore": "1", "started_from": "2"})
    assert (tools.row(NAME).version, tools.row(NAME).definition["description"]) == (3, "First")
    with tenant.tx():
        assert LogEntry.objects.get().change_message == "Version 1 restored as version 3."


def test_saving_an_unchanged_tool_says_that_its_version_stays(owner: Client, tools: Tools) -> None:
    tools.save(NAME, event())
    shown = owner.get(url_of(tools, "change")).context
    body = {"text": shown["text"], "expected_version": "1", "is_enabled": "on"}
    page = owner.post(url_of(tools, "change"), body, follow=True)
    assert (tools.row(NAME).version, "saved as version" in page.content.decode()) == (1, False)


def test_restoring_what_is_live_says_that_nothing_changed(owner: Client, tools: Tools) -> None:
    for description in ("First", "Second", "First"):
        tools.save(NAME, event(description=description))
    page = owner.post(url_of(tools, "versions"), {"restore": "1", "started_from": "3"}, follow=True)
    assert (tools.row(NAME).version, "restored as version" in page.content.decode()) == (3, False)


def test_a_restore_over_someone_elses_version_is_refused(owner: Client, tools: Tools) -> None:
    tools.save(NAME, event(description="First"))
    tools.save(NAME, event(description="Second"))
    page = owner.post(url_of(tools, "versions"), {"restore": "1", "started_from": "1"}, follow=True)
    assert "saved as version 2 in the meantime" in page.content.decode()
    assert tools.row(NAME).definition["description"] == "Second"


@pytest.mark.parametrize("page", ["versions", "export"])
def test_a_strangers_tool_looks_nonexistent(page: str, tools: Tools, stranger: Tenant) -> None:
    tools.save(NAME, event())
    answer = browser(stranger.owner).get(url_of(tools, page))
    assert (answer.status_code, answer.headers["Location"]) == (302, reverse("admin:index"))


# Import, export and copies


def test_an_export_can_be_imported_into_another_project(
    owner: Client, tools: Tools, tenant: Tenant, second: Project
) -> None:
    tools.save(NAME, webhook())
    file = owner.get(url_of(tools, "export")).content
    assert json.loads(file) == {"tools": {NAME: webhook()}}
    upload = SimpleUploadedFile("tools.json", file)
    told = owner.post(IMPORT, {"project": str(second.pk), "file": upload}, follow=True).content.decode()
    assert f"Signing secret of {NAME}, shown only once: whsec_" in told
    assert names_in(tenant, second) == [NAME]


def test_selected_tools_are_exported_without_secrets(owner: Client, tools: Tools, tenant: Tenant) -> None:
    tools.save(NAME, webhook())
    tools.save("other_tool", event())
    with tenant.tx():
        set_secret_headers(CustomTool.objects.get(name=NAME), {"X-Api-Key": "canary"})
    answer = owner.post(LIST, chosen(tools, "export", NAME, "other_tool"))
    assert answer.headers["Content-Disposition"] == 'attachment; filename="tools.json"'
    assert json.loads(answer.content) == {"tools": {NAME: webhook(), "other_tool": event()}}
    assert b"canary" not in answer.content


def test_tools_of_the_same_name_are_not_exported_together(
    owner: Client, tools: Tools, tenant: Tenant, second: Project
) -> None:
    tools.save(NAME, event())
    with tenant.tx():
        twin = service.save(second, name=NAME, document=event()).tool
        first = CustomTool.objects.get(project=tenant.project)
    act = {"action": "export", "_selected_action": [str(first.pk), str(twin.pk)]}
    assert "have the same name" in owner.post(LIST, act, follow=True).content.decode()


def test_an_import_replaces_a_tool_only_if_asked(owner: Client, tools: Tools, tenant: Tenant) -> None:
    tools.save(NAME, event())
    body = {"project": str(tenant.project.pk), "text": json.dumps(registration())}
    refused = owner.post(IMPORT, body).content.decode()
    assert f"already has a tool named {NAME}" in refused
    assert tools.row(NAME).version == 1
    owner.post(IMPORT, {**body, "replaces": "on"})
    assert (tools.row(NAME).version, tools.row(NAME).definition) == (2, webhook())


def test_an_import_saves_all_tools_or_none(owner: Client, tenant: Tenant) -> None:
    both = {"good_tool": event(), "bad_tool": event(conditions={})}
    page = owner.post(IMPORT, {"project": str(tenant.project.pk), "text": json.dumps({"tools": both})})
    assert "tools.bad_tool.conditions: A tool needs at least one condition." in page.content.decode()
    assert names_in(tenant, tenant.project) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Choose a file, or paste the JSON."),
        ("[]", "The JSON must be an object"),
        ('{"tools": {}}', "The JSON contains no tools."),
        ('{"tools": []}', "tools must be an object"),
        ('{"tool": {}}', "The key must be &quot;tools&quot;"),
        ("{", "line 1, column 2"),
    ],
)
def test_an_unreadable_import_says_why(owner: Client, tenant: Tenant, text: str, words: str) -> None:
    page = owner.post(IMPORT, {"project": str(tenant.project.pk), "text": text})
    assert words in page.content.decode()


def test_a_file_that_is_not_text_is_refused(owner: Client, tenant: Tenant) -> None:
    file = SimpleUploadedFile("tools.json", b"\xff\xfe\x00")
    page = owner.post(IMPORT, {"project": str(tenant.project.pk), "file": file})
    assert "isn’t text in UTF-8" in page.content.decode()


def test_an_import_into_a_strangers_project_is_refused(owner: Client, stranger: Tenant) -> None:
    page = owner.post(IMPORT, {"project": str(stranger.project.pk), "text": json.dumps(registration())})
    assert "Select a valid choice" in page.content.decode()
    assert names_in(stranger, stranger.project) == []


def test_platform_staff_import_nothing_into_a_tenant(tools: Tools) -> None:
    assert browser(make_platform_user()).get(IMPORT).status_code == 403


def test_a_copy_asks_for_the_project_and_leaves_the_secrets(
    owner: Client, tools: Tools, tenant: Tenant, second: Project
) -> None:
    tools.save(NAME, webhook())
    with tenant.tx():
        set_secret_headers(CustomTool.objects.get(), {"X-Api-Key": "canary"})
    asked = owner.post(LIST, chosen(tools, "copy"))
    assert "admin/tools/customtool/copy.html" in {template.name for template in asked.templates}
    assert names_in(tenant, second) == []
    owner.post(LIST, chosen(tools, "copy", post="yes", project=str(second.pk)))
    with tenant.tx():
        copied = service.get(second, NAME)
        assert (copied.definition, secret_names(copied)) == (webhook(), [])


# The list and the index


def test_tools_are_filtered_by_state_and_action(owner: Client, tools: Tools) -> None:
    tools.save(NAME, webhook())
    tools.save("other_tool", event(), is_enabled=False)
    assert listed(owner, "state=off") == ["other_tool"]
    assert listed(owner, "state=on") == [NAME]
    assert listed(owner, "action_type=send_webhook") == [NAME]
    assert listed(owner, "action_type=x") == [NAME, "other_tool"]


def test_tools_are_filtered_by_project(owner: Client, tools: Tools, tenant: Tenant, second: Project) -> None:
    tools.save(NAME, event())
    with tenant.tx():
        service.save(second, name="other_tool", document=event())
    assert listed(owner, f"project__id__exact={second.pk}") == ["other_tool"]


def test_the_index_begins_with_what_people_change(owner: Client) -> None:
    groups = owner.get(reverse("admin:index")).context["app_list"]
    first = [model["object_name"] for model in groups[0]["models"]]
    assert first == ["CustomTool", "Attribute", "Project", "Member", "TodoType"]
    assert all(model["view_only"] for model in groups[-1]["models"])
