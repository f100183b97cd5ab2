"""The permission table, checked for every kind of caller and for another tenant."""

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

from conversations.models import Call as PhoneCall
from conversations.models import CannedReply, Channel, Conversation, Persona, PersonaField, Tag
from conversations.turns.services import post_message, start_conversation
from jobs.models import Job, ModelCall, State
from privacy.models import Erasure
from projects.agents.services import create_key, create_project
from projects.models import ApiKey, Article, Attribute, Project, Role, User
from projects.models.key import Scope
from projects.records.attributes import set_attribute
from tests.api.documented import differences
from tests.conftest import Tenant, empty_database, make_tenant, member_of
from tests.tenancy.conftest import browser
from tests.tenancy.permission_table import (
    ACCOUNT,
    ADMIN,
    API,
    BOOKABLE,
    BY_TOKEN,
    FORMS,
    MAY,
    MOVED,
    OPERATIONS,
    PAGES,
    PUBLIC,
    SIGNED,
    TOOL,
    Operation,
    Page,
)
from tests.tenancy.routes import routes
from tests.tenancy.rows import tenant_models
from todos.models import StandingRule, Todo, TodoSource, TodoStatus, TodoType
from tools.engine.custom import service
from tools.models import (
    Booking,
    BookingState,
    Effect,
    EffectState,
    EvaluationRun,
    EventSubscription,
    KeptCase,
    LimitAlert,
    Promise,
    PromiseState,
    Resource,
    RunState,
)
from tools.services.bookings.booking_request import BookingRequest
from tools.services.bookings.opening import Opening
from tools.services.bookings.search import config_of
from tools.services.bookings.services import Guest, book
from tools.services.support.tickets import open_ticket

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
KEY = "greeting_of_canary"

by_operation = pytest.mark.parametrize("operation", OPERATIONS, ids=str)
by_page = pytest.mark.parametrize("page", PAGES, ids=str)
by_form = pytest.mark.parametrize("page", FORMS, ids=str)


@dataclass(frozen=True)
class Sample:
    """A tenant with a row for each kind of id in a URL."""

    tenant: Tenant
    people: dict[Role, User]
    ids: dict[str, Any]
    # Kinds of rows that requests may have consumed since the last `restore`.
    consumed: set[str] = field(default_factory=set)

    def browser_of(self, role: str) -> Client:
        """A browser signed in as one of our members."""
        return signed_in(self.people[Role(role)])

    def recorded(self, operation: Operation | Page, response: Any) -> Any:
        """Record the kind of row that a successful write may have consumed, and return the response."""
        if response.status_code < 400 and getattr(operation, "method", "POST") != "GET":
            kind = operation.route.removeprefix(API).split("/")[0]
            self.consumed.update({kind} if operation.route.startswith(API) else USED_UP)
        return response

    def restore(self) -> None:
        """Restore the consumed rows."""
        if used_up := self.consumed & USED_UP.keys():
            with self.tenant.tx():
                for kind in used_up:
                    USED_UP[kind](self)
        self.consumed.clear()


def restore_article(sample: Sample) -> None:
    canary = {"title": "canary", "body": "canary"}
    Article.objects.get_or_create(project=sample.tenant.project, slug=sample.ids["slug"], defaults=canary)


def restore_bookings(sample: Sample) -> None:
    Booking.objects.exclude(pk=sample.ids["booking_id"]).delete()
    Booking.objects.filter(pk=sample.ids["booking_id"]).update(state=BookingState.CONFIRMED)


def restore_phone_call(sample: Sample) -> None:
    """A live call, in a conversation of its own."""
    conversation = start_conversation(
        sample.tenant.project, channel=Channel.PHONE, external_id="canary-caller", known={}, metadata={}
    )
    canary = {"project": sample.tenant.project, "conversation": conversation, "state": "live", "external_id": "canary"}
    PhoneCall.objects.update_or_create(pk=sample.ids["phone_call_id"], defaults=canary)


def restore_resource(sample: Sample) -> None:
    canary = {"project": sample.tenant.project, "name": "canary", "is_active": False}
    Resource.objects.get_or_create(pk=sample.ids["resource_id"], defaults=canary)


def restore_subscription(sample: Sample) -> None:
    """The outbound guard blocks its address, so that test events fail."""
    EventSubscription.objects.exclude(pk=sample.ids["subscription_id"]).delete()
    canary = {"project": sample.tenant.project, "url": "http://127.0.0.1:9/canary", "events": ["canary"]}
    EventSubscription.objects.get_or_create(pk=sample.ids["subscription_id"], defaults=canary)


# How to restore the rows that a URL consumes, by the path segment after api/v1/. Other writes don't interfere.
USED_UP: dict[str, Callable[[Sample], object]] = {
    "attributes": lambda sample: set_attribute(sample.tenant.project, KEY, "Buonasera"),
    "bookings": restore_bookings,
    "calls": restore_phone_call,
    "canned-replies": lambda sample: CannedReply.objects.update_or_create(
        pk=sample.ids["reply_id"],
        defaults={"project": sample.tenant.project, "name": "canary", "content": "canary", "deleted_at": None},
    ),
    "conversations": lambda sample: Conversation.objects.update(operator=None, operator_since=None),
    "custom-tools": lambda sample: service.save(sample.tenant.project, name=sample.ids["name"], document=TOOL),
    "effects": lambda sample: Effect.objects.filter(pk=sample.ids["effect_id"]).update(state=EffectState.UNKNOWN),
    "evaluation-cases": lambda sample: KeptCase.objects.filter(pk=sample.ids["case_id"]).update(deleted_at=None),
    "event-subscriptions": restore_subscription,
    "jobs": lambda sample: Job.objects.filter(pk=sample.ids["job_id"]).update(state=State.FAILED),
    "knowledge": restore_article,
    "personas": lambda sample: Persona.objects.filter(pk=sample.ids["persona_id"]).update(
        erased_at=None, external_id="canary-guest"
    ),
    "limit-alerts": lambda sample: LimitAlert.objects.filter(pk=sample.ids["alert_id"]).update(lifted_at=None),
    "promises": lambda sample: Promise.objects.filter(pk=sample.ids["promise_id"]).update(
        state=PromiseState.OPEN, evidence="", owner="staff"
    ),
    "resources": restore_resource,
    "standing-rules": lambda sample: StandingRule.objects.filter(pk__gt=sample.ids["rule_id"]).delete(),
    "tags": lambda sample: Tag.objects.get_or_create(
        pk=sample.ids["tag_id"], defaults={"project": sample.tenant.project, "name": "canary"}
    ),
    "todo-types": lambda sample: TodoType.objects.filter(pk=sample.ids["type_id"]).update(is_removed=False),
}


@pytest.fixture(scope="module")
def sample(_schema: None) -> Iterator[Sample]:
    """Created once per module. Rows that tests add don't interfere."""
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
        run = EvaluationRun.objects.create(project=tenant.project, number=1, model="m", state=RunState.DONE)
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
        alert = LimitAlert.objects.create(project=tenant.project, limit="sms", is_reached=True, used=1, most=1)
        ticket = open_ticket(tenant.project.pk, subject="canary", body="canary")
        erasure = Erasure.objects.create(project=tenant.project, requested_by="canary")
    ids = {
        "case_id": case.pk,
        "conversation_id": conversation.pk,
        "turn_id": turn.pk,
        "persona_id": conversation.persona_id,
    }
    made = Sample(
        tenant,
        people,
        {
            **ids,
            "booking_id": booking.pk,
            "resource_id": resource.pk,
            "effect_id": effect.pk,
            "promise_id": promise.pk,
            "subscription_id": uuid.uuid4(),
            "type_id": kind.pk,
            "todo_id": todo.pk,
            "rule_id": rule.pk,
            "run_id": run.pk,
            "ticket_id": ticket.pk,
            "erasure_id": erasure.pk,
            "tag_id": uuid.uuid4(),
            "alert_id": alert.pk,
            "limit_name": "model_month_cost",
            "reply_id": uuid.uuid4(),
            "job_id": job.pk,
            "call_id": call.pk,
            "file_id": uuid.uuid4(),
            "phone_call_id": uuid.uuid4(),
            "key": KEY,
            "name": "canary_tool",
            "tool_name": "send_sms_tool",
            "ability_key": "texts",
            "slug": "canary-article",
            "article_slug": "canary-article",
            "project_slug": tenant.project.slug,
        },
    )
    made.consumed.update(USED_UP)
    made.restore()
    yield made
    # Their users are deleted too.
    signed_in.cache_clear()
    with_key.cache_clear()
    empty_database()


@pytest.fixture(autouse=True)
def _restored(sample: Sample) -> Iterator[None]:
    yield
    sample.restore()


@pytest.fixture
def stranger(request: pytest.FixtureRequest, sample: Sample, reader: Tenant) -> Tenant:
    """Another tenant. Tests that write get a new one each time."""
    asked = getattr(request.node, "callspec", None)
    operation = asked.params.get("operation") if asked else None
    is_refused = asked and ("page" in asked.params or (operation and operation.has_row_id))
    writes = not is_refused and not (operation and operation.method == "GET")
    return make_tenant(f"Stranger{uuid.uuid4().hex[:8]}") if writes else reader


@pytest.fixture(scope="module")
def reader(sample: Sample) -> Tenant:
    """A tenant for tests that read, or whose writes are all rejected."""
    return make_tenant("Reader")


def call(
    client: Client,
    operation: Operation,
    sample: Sample,
    *,
    ids: dict[str, Any] | None = None,
    method: str = "",
    **headers: str,
) -> Any:
    """Call a URL with the sample's ids or others."""
    path = "/" + filled(operation.route, sample.ids if ids is None else ids)
    sent = {"content_type": "application/json", "headers": headers}
    response = client.generic(method or operation.method, path, _json(operation.body), **sent)
    return sample.recorded(operation, response)


def _json(body: dict[str, Any]) -> bytes:
    """The body as JSON. A callable creates a new value for each request."""
    sent = {name: value() if callable(value) else value for name, value in body.items()}
    return json.dumps(sent).encode() if body else b""


def filled(route: str, ids: dict[str, Any]) -> str:
    """The URL with an id for each parameter."""
    return re.sub(r"<\w+:(\w+)>", lambda found: str(ids[found[1]]), route)


@cache
def with_key(tenant: Tenant, *scopes: Scope, project: Project | None = None) -> Client:
    """A client with a key of these scopes. Cached, because pages list every key."""
    with tenant.tx():
        new = create_key(project or tenant.project, name="table", scopes=scopes, throttled=False)
    return Client(headers={"Authorization": f"Bearer {new.secret}"})


@cache
def signed_in(user: User) -> Client:
    """A cached browser, signed in as this user."""
    return browser(user)


def without_request_id(response: Any) -> tuple[int, Any]:
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
        "subscription_id",
        "type_id",
        "todo_id",
        "rule_id",
        "run_id",
        "ticket_id",
        "erasure_id",
        "tag_id",
        "reply_id",
        "alert_id",
        "escalation_id",
        "conversation_id",
        "turn_id",
        "persona_id",
        "job_id",
        "call_id",
        "file_id",
        "phone_call_id",
        "member_id",
        "invitation_id",
        "key_id",
    )
    return {
        "key": "nothing_of_this_name",
        "tool_name": "no_such_tool",
        "ability_key": "nothing-of-this-name",
        "slug": "nothing-of-this-name",
        "article_slug": "nothing-of-this-name",
        "name": "nothing_of_this_name",
        "kind": "no-such-kind",
        "project_slug": "no-such-project",
        **{name: uuid.uuid4() for name in names},
    }


def test_every_url_is_in_the_table() -> None:
    known = (
        {operation.route for operation in OPERATIONS}
        | {page.route for page in (*PAGES, *FORMS)}
        | PUBLIC
        | SIGNED
        | MOVED
        | BY_TOKEN
        | set(ACCOUNT)
    )
    assert {route for route in routes() if not route.startswith(ADMIN)} == known


@by_operation
def test_credentials_are_required(operation: Operation, sample: Sample) -> None:
    response = call(Client(), operation, sample)
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "not_authenticated"


@by_operation
def test_a_role_may_call_the_urls_of_its_scopes(operation: Operation, sample: Sample) -> None:
    """The response is one that the OpenAPI document describes, also when it refuses."""
    for role, verbs in MAY.items():
        response = call(sample.browser_of(role), operation, sample, **{"X-Project": sample.tenant.project.slug})
        assert response.status_code == (operation.status if operation.scope in verbs else 403), role
        assert not undocumented(operation, response), role
        sample.restore()


def undocumented(operation: Operation, response: Any) -> list[str]:
    if response.headers.get("Content-Type") in ("text/event-stream", "application/zip"):
        return []
    body = response.json() if response.content else None
    return differences(operation.route, operation.method, response.status_code, body)


@by_operation
def test_a_key_needs_exactly_the_scope_of_the_url(operation: Operation, sample: Sample) -> None:
    others = [scope for scope in Scope if scope is not operation.scope]
    assert call(with_key(sample.tenant, *others), operation, sample).status_code == 403
    assert call(with_key(sample.tenant, operation.scope), operation, sample).status_code == operation.status


def second_project(tenant: Tenant) -> Project:
    with tenant.tx():
        second = create_project("Second", config=tenant.project.agent_version.config)  # type: ignore[union-attr]
        Resource.objects.create(project=second, name="Table")
    return second


@pytest.fixture(scope="module")
def read_project(sample: Sample) -> Project:
    """A second project of ours, for requests that write nothing."""
    return second_project(sample.tenant)


@pytest.fixture(scope="module")
def written_project(sample: Sample) -> Project:
    """A third project, for requests that create rows."""
    return second_project(sample.tenant)


@by_operation
def test_another_tenants_ids_are_answered_like_random_ones(
    operation: Operation, sample: Sample, stranger: Tenant, read_project: Project, written_project: Project
) -> None:
    """By key, by session, and by the key of another project of the same tenant."""
    second = read_project if operation.method == "GET" or operation.has_row_id else written_project
    owner, slug = signed_in(stranger.owner), {"X-Project": stranger.project.slug}
    callers = [(with_key(stranger, *Scope), {}), (owner, slug), (with_key(sample.tenant, *Scope, project=second), {})]
    for client, headers in callers:
        answer = call(client, operation, sample, **headers)
        if operation.has_row_id:
            assert without_request_id(answer) == without_request_id(
                call(client, operation, sample, ids=random_ids(), **headers)
            )
            assert answer.status_code == 404
        else:
            assert answer.status_code == operation.status
            # What a stream sends isn't there yet.
            text = "" if answer.streaming else answer.content.decode()
            assert not [
                name
                for name, pk in sample.ids.items()
                if name not in ("key", "name", "limit_name", "tool_name", "ability_key", "project_slug")
                and str(pk) in text
            ]


@by_operation
def test_a_strangers_session_cannot_select_our_project(operation: Operation, sample: Sample, stranger: Tenant) -> None:
    client = signed_in(stranger.owner)
    answers = [
        without_request_id(call(client, operation, sample, **{"X-Project": slug}))
        for slug in (sample.tenant.project.slug, "no-such-project")
    ]
    assert answers[0] == answers[1]
    assert answers[0][0] == 404


@pytest.mark.parametrize("operation", {operation.route: operation for operation in OPERATIONS}.values(), ids=str)
def test_other_methods_return_405(operation: Operation, sample: Sample) -> None:
    """One operation of each URL stands for all."""
    allowed = {other.method for other in OPERATIONS if other.route == operation.route}
    for method in METHODS:
        if method not in allowed:
            response = call(Client(headers=sample.tenant.headers), operation, sample, method=method)
            assert response.status_code == 405, method
            assert response.json()["error"]["code"] == "method_not_allowed"


# References to another tenant in request bodies


def test_an_equal_external_id_of_another_tenant_is_another_person(sample: Sample, stranger: Tenant) -> None:
    """An `external_id` belongs to the caller's project."""
    body = {"channel": "api", "persona": {"external_id": "canary-guest", "name": "Mallory"}}
    response = with_key(stranger, *Scope).post("/api/v1/conversations", body, content_type="application/json")
    assert response.json()["persona"]["id"] != str(sample.ids["persona_id"])
    with sample.tenant.tx():
        assert not PersonaField.objects.filter(value="Mallory").exists()


def test_an_equal_attribute_name_of_another_tenant_is_another_attribute(sample: Sample, stranger: Tenant) -> None:
    with_key(stranger, *Scope).put(f"/api/v1/attributes/{KEY}", {"value": "x"}, content_type="application/json")
    with sample.tenant.tx():
        assert Attribute.objects.get(key=KEY, project=sample.tenant.project).value == "Buonasera"


# Bodies and queries that refer to one of our rows, by the name of its id.
REFERENCES = [
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


@pytest.mark.parametrize(("path", "body"), REFERENCES)
def test_bodies_and_queries_cannot_refer_to_another_tenants_rows(
    path: str, body: dict[str, Any] | None, sample: Sample, reader: Tenant
) -> None:
    """The response equals that for a nonexistent row."""
    client, answers = with_key(reader, *Scope), []
    for ids in (sample.ids, random_ids()):
        url = f"/api/v1/{path.format(**ids)}"
        sent = {name: str(ids[one]) if one in ids else one for name, one in (body or {}).items()}
        answer = client.post(url, sent, content_type="application/json") if body else client.get(url)
        assert answer.status_code in ((409, 422) if body else (200, 422))
        answers.append(re.sub(r'"request_id":"\w+"', "", answer.content.decode()))
    assert answers[0] == answers[1]


@pytest.mark.parametrize("operation", [operation for operation in OPERATIONS if operation.body], ids=str)
def test_a_body_cannot_choose_the_organization_or_project(operation: Operation, sample: Sample) -> None:
    """They are rejected as unknown fields."""
    for name in ("organization", "organization_id", "project", "project_id"):
        forged = {**operation.body, name: str(sample.tenant.organization.pk)}
        api = Client(headers=sample.tenant.headers)
        response = call(api, Operation(operation.route, operation.method, operation.scope, body=forged), sample)
        assert (response.status_code, response.json()["error"]["field"]) == (400, name)


def test_a_stranger_changes_none_of_our_rows(sample: Sample, stranger: Tenant) -> None:
    before, client = all_rows_of(sample), with_key(stranger, *Scope)
    for operation in OPERATIONS:
        call(client, operation, sample)
    assert all_rows_of(sample) == before


def all_rows_of(sample: Sample) -> list[Any]:
    """All rows of our organization, except keys, which record their last use."""
    with sample.tenant.tx():
        models = [model for model in tenant_models() if model is not ApiKey]
        return [list(model.objects.order_by("pk").values()) for model in models]


# Pages

CSRF_TOKEN = re.compile(r'(?<=name="csrf-token" content=")\w+|(?<=name="csrfmiddlewaretoken" value=")\w+')


def without_token(answer: Any) -> str:
    """A page in the shell of the reader's own project, whose CSRF token is masked anew in each answer."""
    return CSRF_TOKEN.sub("", answer.content.decode())


def open_page(client: Client, page: Page, ids: dict[str, Any]) -> Any:
    return client.get("/" + filled(page.route, ids))


@by_page
def test_anonymous_visitors_are_redirected_to_the_login(page: Page, sample: Sample) -> None:
    response = open_page(Client(), page, sample.ids)
    assert (response.status_code, response.headers["Location"].split("?")[0]) == (302, reverse("account_login"))


@by_page
def test_a_role_may_open_the_pages_of_its_scopes(page: Page, sample: Sample) -> None:
    for role in MAY:
        expected = page.status if page.admits(role) else 403
        assert open_page(sample.browser_of(role), page, sample.ids).status_code == expected, role


@pytest.mark.parametrize("page", [page for page in PAGES if "<" in page.route], ids=str)
def test_a_strangers_request_for_a_page_is_404(page: Page, sample: Sample, stranger: Tenant) -> None:
    client = signed_in(stranger.owner)
    answers = [open_page(client, page, ids) for ids in (sample.ids, random_ids())]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert without_token(answers[0]) == without_token(answers[1])


@by_form
def test_a_form_requires_its_scope(page: Page, sample: Sample) -> None:
    url = "/" + filled(page.route, {**random_ids(), "project_slug": sample.tenant.project.slug})
    assert Client().post(url).headers["Location"].startswith(reverse("account_login"))
    for role in MAY:
        expected = page.status if page.admits(role) else 403
        answer = sample.recorded(page, sample.browser_of(role).post(url, {"role": "viewer"}))
        assert answer.status_code == expected, role


@by_form
def test_a_strangers_post_of_a_form_is_404(page: Page, sample: Sample, stranger: Tenant) -> None:
    slugs = (sample.tenant.project.slug, "no-such-project")
    urls = ["/" + filled(page.route, {**random_ids(), "project_slug": slug}) for slug in slugs]
    answers = [signed_in(stranger.owner).post(url, {"role": "viewer"}) for url in urls]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert without_token(answers[0]) == without_token(answers[1])


@pytest.mark.parametrize("page", [page for page in PAGES if page.route.startswith("p/")], ids=str)
def test_a_viewer_cannot_post(page: Page, sample: Sample) -> None:
    answer = sample.recorded(page, sample.browser_of(Role.VIEWER).post("/" + filled(page.route, sample.ids)))
    assert answer.status_code in (403, 405)


ROWS = [page for page in (*PAGES, *FORMS) if "<uuid:" in page.route or "article_slug" in page.route]


@pytest.mark.parametrize("page", ROWS, ids=lambda page: f"{page}{' (form)' if page in FORMS else ''}")
def test_another_tenants_row_is_404_in_ones_own_project(page: Page, sample: Sample, stranger: Tenant) -> None:
    client, slug = signed_in(stranger.owner), {"project_slug": stranger.project.slug}
    urls = ["/" + filled(page.route, {**random_ids(), **ids, **slug}) for ids in (sample.ids, {})]
    answers = [client.post(url, {"role": "viewer"}) if page in FORMS else client.get(url) for url in urls]
    assert [answer.status_code for answer in answers] == [404, 404]


def test_a_strangers_home_page_does_not_show_our_project(sample: Sample, stranger: Tenant) -> None:
    text = browser(stranger.owner).get("/", follow=True).content.decode()
    assert stranger.project.slug in text
    assert sample.tenant.project.slug not in text


@pytest.mark.parametrize("route", sorted(PUBLIC))
def test_public_urls_need_no_credentials(route: str) -> None:
    answer = Client().get(f"/{route.replace('<str:language>', 'it')}")
    assert answer.status_code == 200 or answer.url.startswith("/static/")  # type: ignore[attr-defined]  # of a redirect


@pytest.mark.parametrize("route", sorted(BY_TOKEN))
def test_an_unknown_token_is_404(route: str) -> None:
    path = "/" + route.replace("<str:token>", "A" * 43)
    assert Client().post(path, {}, content_type="application/json").status_code == 404


@pytest.mark.parametrize("route", sorted(ACCOUNT))
def test_account_pages_respond_to_anonymous_visitors(route: str) -> None:
    path = {"confirm": "account/confirm-email/x/", "reset": "account/password/reset/key/1-x/"}
    url = path["confirm" if "confirm" in route else "reset"] if "^" in route else route.replace("<int:pk>", "1")
    url = url.replace("<slug:project_slug>", "shop")
    assert Client().get(f"/{url}").status_code == ACCOUNT[route]


# The admin


def admin_urls(pk: object) -> list[str]:
    """One URL for each admin route."""
    fill = {"object_id": pk, "organization_id": pk, "id": 1, "content_type_id": 1, "url": "x"}
    plain = [re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(fill[found[1]]), route) for route in _admin_routes()]
    return [f"/{route}" for route in plain]


def _admin_routes() -> list[str]:
    """The admin's routes. The two regular expressions are replaced by a URL that they match."""
    regular = {"url": "admin/x", "app_label": "admin/projects/"}
    named = {route: re.search(r"\(\?P<(\w+)>", route) for route in routes() if route.startswith(ADMIN)}
    return [regular[found[1]] if found else route for route, found in named.items()]


def test_the_admin_requires_a_session(sample: Sample) -> None:
    """Neither for anonymous visitors nor with an API key. Logging out redirects to the index."""
    redirects = (reverse("admin:login"), reverse("account_login"), reverse("admin:index"))
    for client in (Client(), Client(headers=sample.tenant.headers)):
        for url in admin_urls(sample.tenant.project.pk):
            answer = client.get(url)
            assert answer.status_code == 302, url
            assert answer.headers["Location"].startswith(redirects), url


@pytest.mark.parametrize("role", [Role.OPERATOR, Role.VIEWER])
def test_operators_and_viewers_cannot_open_the_admin(role: Role, sample: Sample) -> None:
    client = sample.browser_of(role)
    for url in admin_urls(sample.tenant.organization.pk):
        expected = {reverse("admin:login"): 302, reverse("admin:enter", args=[sample.tenant.organization.pk]): 404}
        assert client.get(url).status_code == expected.get(url, 403), url
