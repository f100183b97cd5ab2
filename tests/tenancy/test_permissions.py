"""The permission table, run for every kind of caller and for the other tenant."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from conversations.models import Channel, Conversation, PersonaField
from conversations.turns.services import post_message, start_conversation
from jobs.models import Job, ModelCall, State
from projects.agents.services import create_key, create_project
from projects.models import ApiKey, Article, Attribute, Project, Role, User
from projects.models.key import Scope
from projects.records.attributes import set_attribute
from tests.api.documented import differences
from tests.conftest import Tenant, empty_database, make_tenant, member_of
from tests.tenancy.addresses import routes
from tests.tenancy.conftest import browser
from tests.tenancy.doors import (
    ACCOUNT,
    ADMIN,
    API,
    BOOKABLE,
    BY_TOKEN,
    DOORS,
    FORMS,
    MAY,
    PAGES,
    PUBLIC,
    TOOL,
    Door,
    Page,
)
from tests.tenancy.rows import tenant_models
from todos.models import StandingRule, Todo, TodoSource, TodoStatus, TodoType
from tools.engine.custom import service
from tools.models import Booking, BookingState, Effect, EffectState, KeptCase, Promise, PromiseState, Resource
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.opening import Opening
from tools.services.bookings.search import config_of
from tools.services.bookings.services import Guest, book
from tools.services.support.tickets import open_ticket

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
KEY = "greeting_of_canary"

by_door = pytest.mark.parametrize("door", DOORS, ids=str)
by_page = pytest.mark.parametrize("page", PAGES, ids=str)
by_form = pytest.mark.parametrize("page", FORMS, ids=str)


@dataclass(frozen=True)
class House:
    """A tenant with one row for each id that an address may carry."""

    tenant: Tenant
    people: dict[Role, User]
    ids: dict[str, Any]
    # What those who wrote since it was last restored may have used up.
    written: set[str] = field(default_factory=set)

    def visitor(self, role: str) -> Client:
        """The browser of one of our people, signed in once."""
        return signed_in(self.people[Role(role)])

    def noticed(self, door: Door | Page, response: Any) -> Any:
        """The answer, and whether it is one to somebody who wrote."""
        if response.status_code < 400 and getattr(door, "method", "POST") != "GET":
            kind = door.route.removeprefix(API).split("/")[0]
            self.written.update({kind} if door.route.startswith(API) else USED_UP)
        return response

    def restore(self) -> None:
        """What the last visitors used up is there again."""
        if used_up := self.written & USED_UP.keys():
            with self.tenant.tx():
                for kind in used_up:
                    USED_UP[kind](self)
        self.written.clear()


def restore_article(house: House) -> None:
    canary = {"title": "canary", "body": "canary"}
    Article.objects.get_or_create(project=house.tenant.project, slug=house.ids["slug"], defaults=canary)


def restore_bookings(house: House) -> None:
    Booking.objects.exclude(pk=house.ids["booking_id"]).delete()
    Booking.objects.filter(pk=house.ids["booking_id"]).update(state=BookingState.CONFIRMED)


def restore_resource(house: House) -> None:
    canary = {"project": house.tenant.project, "name": "canary", "is_active": False}
    Resource.objects.get_or_create(pk=house.ids["resource_id"], defaults=canary)


# How that is undone which a door uses up, by the word after api/v1/. What other doors write is in nobody's way.
USED_UP: dict[str, Callable[[House], object]] = {
    "attributes": lambda house: set_attribute(house.tenant.project, KEY, "Buonasera"),
    "bookings": restore_bookings,
    "conversations": lambda house: Conversation.objects.update(operator=None, operator_since=None),
    "custom-tools": lambda house: service.save(house.tenant.project, name=house.ids["name"], document=TOOL),
    "effects": lambda house: Effect.objects.filter(pk=house.ids["effect_id"]).update(state=EffectState.UNKNOWN),
    "evaluation-cases": lambda house: KeptCase.objects.get_or_create(
        pk=house.ids["case_id"], defaults={"project": house.tenant.project}
    ),
    "jobs": lambda house: Job.objects.filter(pk=house.ids["job_id"]).update(state=State.FAILED),
    "knowledge": restore_article,
    "promises": lambda house: Promise.objects.filter(pk=house.ids["promise_id"]).update(state=PromiseState.OPEN),
    "resources": restore_resource,
    "standing-rules": lambda house: StandingRule.objects.filter(pk__gt=house.ids["rule_id"]).delete(),
    "todo-types": lambda house: TodoType.objects.filter(pk=house.ids["type_id"]).update(is_removed=False),
}


@pytest.fixture(scope="module")
def house(_schema: None) -> Iterator[House]:
    """Made once: what visitors leave in it is in nobody's way."""
    tenant, now = make_tenant("Nello"), timezone.now()
    people = {role: tenant.owner if role is Role.OWNER else member_of(tenant, role) for role in Role}
    with tenant.tx():
        conversation = start_conversation(
            tenant.project, channel=Channel.API, external_id="canary-guest", known={}, metadata={"playground": True}
        )
        posted = post_message(conversation.pk, "canary-message")
        turn = posted.turn
        common = {"project": tenant.project, "subject_id": conversation.pk}
        job = Job.objects.create(
            **common, lane="observer", ordinal=1, key="x", fair_at=now, run_after=now, created_at=now
        )
        call = ModelCall.objects.create(**common, skill="reply", model="m", messages=[], started_at=now, total_ms=1)
        case = KeptCase.objects.create(project=tenant.project)
        resource = Resource.objects.create(project=tenant.project, name="canary", is_active=False)
        start = Opening(config_of(tenant.project)).moment(datetime.fromisoformat(BOOKABLE))
        assert start is not None
        booking = book(tenant.project, BookingRequest(2), starts_at=start, guest=Guest(), now=now)
        effect = Effect.objects.create(
            project_id=tenant.project.pk,
            conversation_id=conversation.pk,
            effect_key="x",
            tool="x",
            kind="x",
            delivery="once",
            definition={},
        )
        promise = Promise.objects.create(
            project_id=tenant.project.pk,
            conversation_id=conversation.pk,
            turn_id=turn.pk,
            message_id=posted.message.pk,
            quote="canary",
            due_at=now,
        )
        kind = TodoType.objects.create(project=tenant.project, name="canary", description="canary")
        todo = Todo.objects.create(
            project=tenant.project,
            description="canary",
            status=TodoStatus.COMPLETED,
            source=TodoSource.API,
            expires_at=now,
        )
        rule = StandingRule.objects.create(project=tenant.project, tool="canary", created_by=uuid.uuid4())
        ticket = open_ticket(tenant.project.pk, subject="canary", body="canary")
    ids = {
        "case_id": case.pk,
        "conversation_id": conversation.pk,
        "turn_id": turn.pk,
        "persona_id": conversation.persona_id,
    }
    made = House(
        tenant,
        people,
        {
            **ids,
            "booking_id": booking.pk,
            "resource_id": resource.pk,
            "effect_id": effect.pk,
            "promise_id": promise.pk,
            "type_id": kind.pk,
            "todo_id": todo.pk,
            "rule_id": rule.pk,
            "ticket_id": ticket.pk,
            "job_id": job.pk,
            "call_id": call.pk,
            "key": KEY,
            "name": "canary_tool",
            "tool_name": "send_sms_tool",
            "slug": "canary-article",
            "article_slug": "canary-article",
            "project_slug": tenant.project.slug,
        },
    )
    made.written.update(USED_UP)
    made.restore()
    yield made
    # Whom these let in is gone as well.
    signed_in.cache_clear()
    with_key.cache_clear()
    empty_database()


@pytest.fixture(autouse=True)
def _restored(house: House) -> Iterator[None]:
    yield
    house.restore()


@pytest.fixture
def stranger(request: pytest.FixtureRequest, house: House, passer_by: Tenant) -> Tenant:
    """Another tenant; where they write, someone new each time, who has written nothing yet."""
    asked = getattr(request.node, "callspec", None)
    door = asked.params.get("door") if asked else None
    is_refused = asked and ("page" in asked.params or (door and door.names_a_row))
    writes = not is_refused and not (door and door.method == "GET")
    return make_tenant(f"Stranger{uuid.uuid4().hex[:8]}") if writes else passer_by


@pytest.fixture(scope="module")
def passer_by(house: House) -> Tenant:
    """One who only looks, and whose every attempt to write is refused."""
    return make_tenant("PasserBy")


def call(
    client: Client, door: Door, house: House, *, ids: dict[str, Any] | None = None, method: str = "", **headers: str
) -> Any:
    """Ask at a door, with the house's ids or others."""
    path = "/" + filled(door.route, house.ids if ids is None else ids)
    said = {"content_type": "application/json", "headers": headers}
    response = client.generic(method or door.method, path, _json(door.body), **said)
    return house.noticed(door, response)


def _json(body: dict[str, Any]) -> bytes:
    """The body; a value that has to be new each time is made here."""
    said = {name: value() if callable(value) else value for name, value in body.items()}
    return json.dumps(said).encode() if body else b""


def filled(route: str, ids: dict[str, Any]) -> str:
    """The address with an id in each of its places."""
    return re.sub(r"<\w+:(\w+)>", lambda found: str(ids[found[1]]), route)


@cache
def with_key(tenant: Tenant, *scopes: Scope, project: Project | None = None) -> Client:
    """A client with a key of these scopes, made once: a page that lists them shows each."""
    with tenant.tx():
        new = create_key(project or tenant.project, name="table", scopes=scopes, throttled=False)
    return Client(headers={"Authorization": f"Bearer {new.secret}"})


@cache
def signed_in(user: User) -> Client:
    """Somebody's browser, in which they signed in once."""
    return browser(user)


def nameless(response: Any) -> tuple[int, Any]:
    body = response.json()
    body["error"].pop("request_id")
    return response.status_code, body


def random_ids() -> dict[str, Any]:
    names = (
        "case_id",
        "booking_id",
        "resource_id",
        "effect_id",
        "promise_id",
        "type_id",
        "todo_id",
        "rule_id",
        "ticket_id",
        "escalation_id",
        "conversation_id",
        "turn_id",
        "persona_id",
        "job_id",
        "call_id",
        "member_id",
        "invitation_id",
        "key_id",
    )
    return {
        "key": "nothing_of_this_name",
        "tool_name": "no_such_tool",
        "slug": "nothing-of-this-name",
        "article_slug": "nothing-of-this-name",
        "name": "nothing_of_this_name",
        "kind": "no-such-kind",
        "project_slug": "no-such-project",
        **{name: uuid.uuid4() for name in names},
    }


def test_every_address_is_in_the_table() -> None:
    known = (
        {door.route for door in DOORS} | {page.route for page in (*PAGES, *FORMS)} | PUBLIC | BY_TOKEN | set(ACCOUNT)
    )
    assert {route for route in routes() if not route.startswith(ADMIN)} == known


@by_door
def test_nobody_enters_without_credentials(door: Door, house: House) -> None:
    response = call(Client(), door, house)
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "not_authenticated"


@by_door
def test_a_role_enters_where_its_verbs_allow(door: Door, house: House) -> None:
    for role, verbs in MAY.items():
        response = call(house.visitor(role), door, house, **{"X-Project": house.tenant.project.slug})
        assert response.status_code == (door.status if door.scope in verbs else 403), role
        house.restore()


@by_door
def test_a_key_enters_with_the_scope_and_only_with_it(door: Door, house: House) -> None:
    others = [scope for scope in Scope if scope is not door.scope]
    assert call(with_key(house.tenant, *others), door, house).status_code == 403
    assert call(with_key(house.tenant, door.scope), door, house).status_code == door.status


def second_project(tenant: Tenant) -> Project:
    with tenant.tx():
        second = create_project("Second", config=tenant.project.agent_version.config)  # type: ignore[union-attr]
        Resource.objects.create(project=second, name="Table")
    return second


@pytest.fixture(scope="module")
def read_project(house: House) -> Project:
    """A second project of ours, in which nobody writes."""
    return second_project(house.tenant)


@pytest.fixture(scope="module")
def written_project(house: House) -> Project:
    """Another one, in which each door is written through once that needs no row."""
    return second_project(house.tenant)


@by_door
def test_a_door_answers_as_the_document_says(door: Door, house: House) -> None:
    response = call(house.visitor(Role.OWNER), door, house, **{"X-Project": house.tenant.project.slug})
    if response.headers.get("Content-Type") != "text/event-stream":
        body = response.json() if response.content else None
        assert not differences(door.route, door.method, response.status_code, body)


@by_door
def test_another_tenant_finds_nothing_that_a_random_id_would_not(
    door: Door, house: House, stranger: Tenant, read_project: Project, written_project: Project
) -> None:
    """By key, by session, and by the key of another project of the same tenant: one 404 for all."""
    second = read_project if door.method == "GET" or door.names_a_row else written_project
    owner, slug = signed_in(stranger.owner), {"X-Project": stranger.project.slug}
    callers = [(with_key(stranger, *Scope), {}), (owner, slug), (with_key(house.tenant, *Scope, project=second), {})]
    for client, headers in callers:
        answer = call(client, door, house, **headers)
        if door.names_a_row:
            assert nameless(answer) == nameless(call(client, door, house, ids=random_ids(), **headers))
            assert answer.status_code == 404
        else:
            assert answer.status_code == door.status
            text = answer.content.decode()
            assert not [
                name
                for name, pk in house.ids.items()
                if name not in ("key", "name", "tool_name", "project_slug") and str(pk) in text
            ]


@by_door
def test_a_strangers_session_does_not_find_our_project(door: Door, house: House, stranger: Tenant) -> None:
    client = signed_in(stranger.owner)
    answers = [
        nameless(call(client, door, house, **{"X-Project": slug}))
        for slug in (house.tenant.project.slug, "no-such-project")
    ]
    assert answers[0] == answers[1]
    assert answers[0][0] == 404


@by_door
def test_another_method_is_405(door: Door, house: House) -> None:
    allowed = {other.method for other in DOORS if other.route == door.route}
    for method in METHODS:
        if method not in allowed:
            response = call(Client(headers=house.tenant.headers), door, house, method=method)
            assert response.status_code == 405, method
            assert response.json()["error"]["code"] == "method_not_allowed"


# Names of another tenant in bodies


def test_a_strangers_word_for_a_customer_means_their_own(house: House, stranger: Tenant) -> None:
    """`external_id` is the caller's own name: the same one elsewhere is someone else."""
    body = {"channel": "api", "persona": {"external_id": "canary-guest", "name": "Mallory"}}
    response = with_key(stranger, *Scope).post("/api/v1/conversations", body, content_type="application/json")
    assert response.json()["persona"]["id"] != str(house.ids["persona_id"])
    with house.tenant.tx():
        assert not PersonaField.objects.filter(value="Mallory").exists()


def test_a_strangers_attribute_of_the_same_name_is_their_own(house: House, stranger: Tenant) -> None:
    with_key(stranger, *Scope).put(f"/api/v1/attributes/{KEY}", {"value": "x"}, content_type="application/json")
    with house.tenant.tx():
        assert Attribute.objects.get(key=KEY, project=house.tenant.project).value == "Buonasera"


# A row of ours by its place among the house's ids, where a caller may name one beside the address.
NAMING = [
    ("tickets", {"subject": "x", "body": "y", "conversation": "conversation_id"}),
    ("tickets", {"subject": "x", "body": "y", "persona": "persona_id"}),
    ("todos", {"description": "x", "conversation": "conversation_id"}),
    ("todos", {"description": "x", "persona": "persona_id"}),
    ("todos", {"description": "x", "type": "type_id"}),
    ("standing-rules", {"tool": "send_email_to_caller", "type": "type_id"}),
    ("bookings", {"starts_at": BOOKABLE, "party_size": 2, "resource": "resource_id"}),
    *((f"{rows}?conversation={{conversation_id}}", None) for rows in ("tickets", "todos", "effects", "promises")),
    ("todos?type={type_id}", None),
    ("orders?persona={persona_id}", None),
]


@pytest.mark.parametrize(("path", "body"), NAMING)
def test_a_body_and_a_query_name_no_row_of_another_tenant(
    path: str, body: dict[str, Any] | None, house: House, passer_by: Tenant
) -> None:
    """They are answered as for a row that never was."""
    client, answers = with_key(passer_by, *Scope), []
    for ids in (house.ids, random_ids()):
        url = f"/api/v1/{path.format(**ids)}"
        said = {name: str(ids[one]) if one in ids else one for name, one in (body or {}).items()}
        answer = client.post(url, said, content_type="application/json") if body else client.get(url)
        assert answer.status_code in ((400, 409) if body else (200, 400))
        answers.append(re.sub(r'"request_id":"\w+"', "", answer.content.decode()))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("door", [door for door in DOORS if door.body], ids=str)
def test_a_body_names_no_tenant_and_no_project(door: Door, house: House) -> None:
    """Unknown fields are refused, so that nobody believes they had an effect."""
    for name in ("organization", "organization_id", "project", "project_id"):
        forged = {**door.body, name: str(house.tenant.organization.pk)}
        api = Client(headers=house.tenant.headers)
        response = call(api, Door(door.route, door.method, door.scope, body=forged), house)
        assert (response.status_code, response.json()["error"]["field"]) == (400, name)


def test_nothing_of_ours_was_touched_by_any_stranger(house: House, stranger: Tenant) -> None:
    before, client = everything_of(house), with_key(stranger, *Scope)
    for door in DOORS:
        call(client, door, house)
    assert everything_of(house) == before


def everything_of(house: House) -> list[Any]:
    """All rows of our organization, but for when a key was used last."""
    with house.tenant.tx():
        models = [model for model in tenant_models() if model is not ApiKey]
        return [list(model.objects.order_by("pk").values()) for model in models]


# Pages


def look(client: Client, page: Page, ids: dict[str, Any]) -> Any:
    return client.get("/" + filled(page.route, ids))


@by_page
def test_a_visitor_is_led_to_the_entrance(page: Page, house: House) -> None:
    response = look(Client(), page, house.ids)
    assert (response.status_code, response.headers["Location"].split("?")[0]) == (302, reverse("account_login"))


@by_page
def test_a_role_sees_the_page_where_its_verbs_allow(page: Page, house: House) -> None:
    for role, verbs in MAY.items():
        expected = page.status if page.scope is None or page.scope in verbs else 403
        assert look(house.visitor(role), page, house.ids).status_code == expected, role


@pytest.mark.parametrize("page", [page for page in PAGES if "<" in page.route], ids=str)
def test_a_strangers_page_is_none_at_all(page: Page, house: House, stranger: Tenant) -> None:
    client = signed_in(stranger.owner)
    answers = [look(client, page, ids) for ids in (house.ids, random_ids())]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content


@by_form
def test_a_form_acts_for_nobody_without_its_verb(page: Page, house: House) -> None:
    url = "/" + filled(page.route, {**random_ids(), "project_slug": house.tenant.project.slug})
    assert Client().post(url).headers["Location"].startswith(reverse("account_login"))
    for role, verbs in MAY.items():
        expected = page.status if page.scope in verbs else 403
        answer = house.noticed(page, house.visitor(role).post(url, {"role": "viewer"}))
        assert answer.status_code == expected, role


@by_form
def test_a_strangers_form_is_none_at_all(page: Page, house: House, stranger: Tenant) -> None:
    slugs = (house.tenant.project.slug, "no-such-project")
    urls = ["/" + filled(page.route, {**random_ids(), "project_slug": slug}) for slug in slugs]
    answers = [signed_in(stranger.owner).post(url, {"role": "viewer"}) for url in urls]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert answers[0].content == answers[1].content


@pytest.mark.parametrize("page", [page for page in PAGES if page.route.startswith("p/")], ids=str)
def test_a_viewer_posts_nothing(page: Page, house: House) -> None:
    answer = house.noticed(page, house.visitor(Role.VIEWER).post("/" + filled(page.route, house.ids)))
    assert answer.status_code in (403, 405)


ROWS = [page for page in (*PAGES, *FORMS) if "<uuid:" in page.route or "article_slug" in page.route]


@pytest.mark.parametrize("page", ROWS, ids=lambda page: f"{page}{' (form)' if page in FORMS else ''}")
def test_another_tenants_row_is_none_in_ones_own_project(page: Page, house: House, stranger: Tenant) -> None:
    client, slug = signed_in(stranger.owner), {"project_slug": stranger.project.slug}
    urls = ["/" + filled(page.route, {**random_ids(), **ids, **slug}) for ids in (house.ids, {})]
    answers = [client.post(url, {"role": "viewer"}) if page in FORMS else client.get(url) for url in urls]
    assert [answer.status_code for answer in answers] == [404, 404]


def test_a_strangers_home_does_not_name_our_project(house: House, stranger: Tenant) -> None:
    text = browser(stranger.owner).get("/", follow=True).content.decode()
    assert stranger.project.slug in text
    assert house.tenant.project.slug not in text


@pytest.mark.parametrize("route", sorted(PUBLIC))
def test_what_is_public_is_public(route: str) -> None:
    assert Client().get(f"/{route.replace('<str:language>', 'it')}").status_code == 200


@pytest.mark.parametrize("route", sorted(BY_TOKEN))
def test_a_token_that_is_nobodys_opens_nothing(route: str) -> None:
    path = "/" + route.replace("<str:token>", "A" * 43)
    assert Client().post(path, {}, content_type="application/json").status_code == 404


@pytest.mark.parametrize("route", sorted(ACCOUNT))
def test_account_pages_answer_visitors(route: str) -> None:
    path = {"confirm": "account/confirm-email/x/", "reset": "account/password/reset/key/1-x/"}
    url = path["confirm" if "confirm" in route else "reset"] if "^" in route else route.replace("<int:pk>", "1")
    assert Client().get(f"/{url}").status_code == ACCOUNT[route]


# The admin


def admin_urls(pk: object) -> list[str]:
    """One address for each admin route."""
    fill = {"object_id": pk, "organization_id": pk, "id": 1, "content_type_id": 1, "url": "x"}
    plain = [re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(fill[found[1]]), route) for route in _admin_routes()]
    return [f"/{route}" for route in plain]


def _admin_routes() -> list[str]:
    """The admin's two regular expressions are given by an address that they match."""
    regular = {"url": "admin/x", "app_label": "admin/projects/"}
    named = {route: re.search(r"\(\?P<(\w+)>", route) for route in routes() if route.startswith(ADMIN)}
    return [regular[found[1]] if found else route for route, found in named.items()]


def test_the_admin_opens_to_nobody_without_a_session(house: House) -> None:
    """Neither a visitor nor a key with every scope. Whoever leaves is led to the front page, which leads on."""
    doors = (reverse("admin:login"), reverse("account_login"), reverse("admin:index"))
    for client in (Client(), Client(headers=house.tenant.headers)):
        for url in admin_urls(house.tenant.project.pk):
            answer = client.get(url)
            assert answer.status_code == 302, url
            assert answer.headers["Location"].startswith(doors), url


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.VIEWER])
def test_the_admin_opens_to_no_operator_and_no_viewer(role: Role, house: House) -> None:
    client = house.visitor(role)
    for url in admin_urls(house.tenant.organization.pk):
        expected = {reverse("admin:login"): 302, reverse("admin:enter", args=[house.tenant.organization.pk]): 404}
        assert client.get(url).status_code == expected.get(url, 403), url
