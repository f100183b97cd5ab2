"""Cross-site scripting: text from any field is escaped on every page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client

from privacy.models import RetentionRun
from projects.agents.services import save_agent
from projects.models import Article, Project
from projects.models.agent_config import AgentConfig
from tests.conftest import empty_database, make_tenant
from tests.tenancy.conftest import browser
from tests.tenancy.permission_table import PAGES, Page
from tests.tenancy.rows import fill_every_table
from tests.tenancy.test_permissions import filled, random_ids
from todos.content.snapshot import content_of
from todos.models import Approval, StandingRule, Todo

# Ends an attribute in either quotes, and starts an element.
HOSTILE = "\"'><script>x"
SLUG = "hostile"
# These redirect, show no data of the project, are no markup, or have no tool.
OTHERS = {
    "",
    "p/<slug:project_slug>/agent/models/test",
    "p/<slug:project_slug>/palette",
    "p/<slug:project_slug>/simulated-phone/files/<uuid:file_id>",
    "p/<slug:project_slug>/tools/<str:tool_name>/history",
}
DOWNLOADS = (".csv", "/export")
SHOWING = [page for page in PAGES if page.route not in OTHERS and not page.route.endswith(DOWNLOADS)]


@pytest.fixture(scope="module")
def house(_schema: None) -> Iterator[tuple[Client, dict[str, Any]]]:
    """The browser of an owner whose rows say nothing else, wherever there is room for text, and the ids of those rows."""
    tenant = make_tenant("Hostile")
    rows = {model.__name__: row for model, row in fill_every_table(tenant, HOSTILE).items()}
    with tenant.tx():
        # These are parts of URLs, or have a validated format.
        Project.objects.filter(pk=rows["Project"].pk).update(slug=SLUG)
        Article.objects.update(slug=SLUG)
        RetentionRun.objects.update(stage="", removed={})
        StandingRule.objects.update(allowed={HOSTILE: {"equals": HOSTILE}})
        document = {**tenant.project.agent_version.document, "agent_name": HOSTILE, "business_name": HOSTILE}  # type: ignore[union-attr]
        save_agent(Project.objects.get(slug=SLUG), config=AgentConfig.model_validate(document), author=None)
        Approval.objects.update(content={**content_of(Todo.objects.get()), "description": f"{HOSTILE} before"})
    names = ("Conversation", "Ticket", "Todo", "Effect", "Booking", "Persona")
    ids = {f"{name.lower()}_id": rows[name].pk for name in names}
    slugs = {"project_slug": SLUG, "article_slug": SLUG, "tool_name": "send_sms_tool", "ability_key": "texts"}
    yield browser(tenant.owner), {**random_ids(), **ids, **slugs}
    empty_database()


@pytest.mark.parametrize("page", SHOWING, ids=str)
def test_a_page_makes_no_markup_of_it(page: Page, house: tuple[Client, dict[str, Any]], settings: Any) -> None:
    # A page exists only beside the offline providers; here they don't answer.
    settings.OFFLINE_MESSENGERS_URL = "http://127.0.0.1:9"
    client, ids = house
    answer = client.get("/" + filled(page.route, ids))
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "<script>x" not in text
    if "project_slug" in page.route and "news" not in page.route:
        # It is shown, but as text.
        assert re.search("(&lt;|\\\\u003c)script(&gt;|\\\\u003e)x", text, re.IGNORECASE)
