"""The bookings API."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from tenancy.ids import uuid7
from tests.api.test_customers import EXAMPLE
from tests.conftest import Tenant
from tests.tools.bookings.conftest import Bookings
from tools.models import Booking, Resource


@pytest.fixture
def day(bookings: Bookings) -> str:
    """A local day two weeks from now on which the business is always open."""
    bookings.configure(hours={}, holidays=[])
    return (timezone.now() + timedelta(days=14)).date().isoformat()


def post(api: Client, path: str, body: dict[str, Any], **headers: str) -> Any:
    return api.post(f"/api/v1/{path}", body, content_type="application/json", headers=headers)


def patch(api: Client, path: str, body: dict[str, Any]) -> Any:
    return api.patch(f"/api/v1/{path}", body, content_type="application/json")


def error(response: Any, status: int = 409) -> dict[str, Any]:
    assert response.status_code == status
    return response.json()["error"]


@pytest.fixture
def made(api: Client, bookings: Bookings, day: str) -> dict[str, Any]:
    response = post(
        api, "bookings", {"starts_at": f"{day}T19:00", "party_size": 4, "name": "Ada", "phone": "06 555 0199"}
    )
    assert response.status_code == 201
    return response.json()


def test_a_booking_is_made_at_a_local_time(made: dict[str, Any], day: str) -> None:
    assert (made["local"], made["resource"]["name"], made["phone"]) == (f"{day}T19:00", "Four", "+39065550199")
    assert made["starts_at"].endswith("Z")
    assert made["manage_url"].endswith(made["manage_url"].rpartition("/b/")[2])


def test_an_offset_determines_the_moment(api: Client, day: str) -> None:
    made = post(api, "bookings", {"starts_at": f"{day}T12:00+00:00", "party_size": 2}).json()
    assert made["starts_at"] == f"{day}T12:00:00Z"


def test_an_unavailable_time_returns_a_conflict_with_alternatives(api: Client, made: dict[str, Any], day: str) -> None:
    refusal = error(post(api, "bookings", {"starts_at": f"{day}T19:00", "party_size": 4}))
    assert (refusal["code"], refusal["field"]) == ("taken", "starts_at")
    assert "no table for 4 is free. Free that day: 17:00, 17:30, 20:30" in refusal["message"]
    assert error(post(api, "bookings", {"starts_at": f"{day}T19:00", "party_size": 400}))["code"] == "too_large"


@pytest.mark.parametrize("starts_at", ["Friday", "2026-13-01T10:00", "0001-01-01T00:00+14:00", "9999-12-31T23:59"])
def test_an_invalid_start_time_is_a_bad_request(api: Client, day: str, starts_at: str) -> None:
    refusal = error(post(api, "bookings", {"starts_at": starts_at, "party_size": 2}), 400)
    assert (refusal["code"], refusal["field"]) == ("invalid_starts_at", "starts_at")


@pytest.mark.parametrize("phone", ["call me", "12"])
def test_an_invalid_phone_number_books_nothing(api: Client, bookings: Bookings, day: str, phone: str) -> None:
    """A text could not reach the customer, and the booking could not be found by the number."""
    refusal = error(post(api, "bookings", {"starts_at": f"{day}T19:00", "party_size": 2, "phone": phone}), 422)
    assert (refusal["code"], refusal["field"]) == ("invalid_phone", "phone")
    assert refusal["message"] == f"phone: {phone} is not a phone number. {EXAMPLE}"
    with bookings.tenant.tx():
        assert not Booking.objects.exists()


def test_a_repeated_post_books_once(api: Client, bookings: Bookings, day: str) -> None:
    body = {"starts_at": f"{day}T19:00", "party_size": 2}
    answers = [post(api, "bookings", body, **{"Idempotency-Key": "k1"}) for _ in range(2)]
    assert answers[0].json() == answers[1].json()
    with bookings.tenant.tx():
        assert Booking.objects.count() == 1


def test_bookings_are_found_by_day_phone_and_code(api: Client, made: dict[str, Any], day: str) -> None:
    def ids(query: str) -> list[str]:
        return [row["id"] for row in api.get(f"/api/v1/bookings?{query}").json()["results"]]

    spoken = f"{made['code'][:3].lower()}-{made['code'][3:]}"
    for query in (f"date={day}", "phone=06%20555%200199", f"code={spoken}", "state=confirmed", ""):
        assert ids(query) == [made["id"]], query
    for query in ("date=2030-01-01", "phone=1", "state=cancelled", "code=K7M2QX", "code=-"):
        assert ids(query) == [], query
    assert error(api.get("/api/v1/bookings?date=9999-12-31"), 400)["field"] == "date"


def test_a_booking_is_moved_and_canceled(api: Client, made: dict[str, Any], day: str) -> None:
    path = f"bookings/{made['id']}"
    assert patch(api, path, {"starts_at": f"{day}T20:00", "party_size": 2}).json()["local"] == f"{day}T20:00"
    cancelled = api.delete(f"/api/v1/{path}").json()
    assert (cancelled["state"], cancelled["cancelled_by"]) == ("cancelled", "staff")
    assert error(patch(api, path, {"party_size": 3}))["code"] == "over"


def test_changing_the_party_size_keeps_the_time(api: Client, made: dict[str, Any]) -> None:
    changed = patch(api, f"bookings/{made['id']}", {"party_size": 3}).json()
    assert (changed["party_size"], changed["starts_at"]) == (3, made["starts_at"])


def test_a_local_time_that_the_clocks_skip_is_refused(api: Client, bookings: Bookings) -> None:
    refusal = error(post(api, "bookings", {"starts_at": "2027-03-28T02:30", "party_size": 2}))
    assert (refusal["code"], refusal["message"]) == ("closed", "The clocks skip 02:30 on that day.")


def test_a_moved_appointment_keeps_its_person_unless_another_is_named(
    api: Client, bookings: Bookings, day: str
) -> None:
    """Even if a colleague is free at that time."""
    bookings.stock(("Dr. Adler", "person", 1, 30), ("Dr. Weber", "person", 2, 30), ("Two", "table", 2, 30))
    with bookings.tenant.tx():
        ids = dict(Resource.objects.values_list("name", "pk"))
    asked = {"starts_at": f"{day}T19:00", "party_size": 1, "resource": str(ids["Dr. Weber"])}
    path = f"bookings/{post(api, 'bookings', asked).json()['id']}"
    assert patch(api, path, {"starts_at": f"{day}T20:00"}).json()["resource"]["name"] == "Dr. Weber"
    assert patch(api, path, {"resource": str(ids["Two"])}).json()["resource"]["name"] == "Two"


def test_a_moved_booking_keeps_its_room_unless_another_resource_is_named(
    api: Client, bookings: Bookings, day: str
) -> None:
    bookings.stock(("Corner", "table", 2, 30), ("Salon", "room", 4, 30))
    with bookings.tenant.tx():
        ids = dict(Resource.objects.values_list("name", "pk"))
    asked = {"starts_at": f"{day}T19:00", "party_size": 2, "resource": str(ids["Salon"])}
    path = f"bookings/{post(api, 'bookings', asked).json()['id']}"
    assert patch(api, path, {"starts_at": f"{day}T20:00"}).json()["resource"]["name"] == "Salon"
    assert patch(api, path, {"resource": str(ids["Corner"])}).json()["resource"]["name"] == "Corner"


def test_free_times_are_listed(api: Client, made: dict[str, Any], day: str) -> None:
    found = api.get(f"/api/v1/bookings/free?date={day}&time=19:00&party_size=4").json()
    assert (found["free"], f"{day}T20:30" in found["starts"]) == (False, True)
    assert "no table for 4 is free" in found["words"]
    for query, field in (
        ("date=x", "date"),
        (f"date={day}&time=x", "time"),
        (f"date={day}&party_size=0", "party_size"),
        (f"date={day}&party_size=000000001000000", "party_size"),
    ):
        assert error(api.get(f"/api/v1/bookings/free?{query}"), 400)["field"] == field


def test_a_resource_is_created_changed_and_removed(api: Client, bookings: Bookings) -> None:
    made = post(api, "resources", {"name": "Terrace", "capacity": 6}).json()
    assert made == {
        "id": made["id"],
        "name": "Terrace",
        "kind": "table",
        "capacity": 6,
        "slot_minutes": 90,
        "is_active": True,
    }
    path = f"resources/{made['id']}"
    assert patch(api, path, {"is_active": False}).json()["is_active"] is False
    assert error(patch(api, path, {"name": "two"}))["field"] == "name"
    assert api.delete(f"/api/v1/{path}").status_code == 204
    assert api.get(f"/api/v1/{path}").status_code == 404


@pytest.mark.parametrize(
    ("field", "value"), [("kind", "boat"), ("capacity", 0), ("slot_minutes", 4), ("slot_minutes", 721), ("name", " ")]
)
def test_a_resource_out_of_bounds_is_refused(api: Client, bookings: Bookings, field: str, value: Any) -> None:
    assert error(post(api, "resources", {"name": "x", field: value}), 400)["field"] == field


def test_an_attribute_with_an_invalid_shape_is_refused(api: Client) -> None:
    path = "/api/v1/attributes/project_attributes_served_zip_codes"
    response = api.put(path, {"value": ["00184", 7]}, content_type="application/json")
    assert "project_attributes_served_zip_codes.1 must be text" in error(response, 422)["message"]
    assert api.put(path, {"value": ["00184"]}, content_type="application/json").json()["type"] == "json"


def test_an_unknown_resource_takes_no_booking(api: Client, day: str) -> None:
    body = {"starts_at": f"{day}T19:00", "party_size": 2, "resource": str(uuid7())}
    assert error(post(api, "bookings", body))["code"] == "nothing_to_book"


def test_the_demo_can_take_bookings_at_once(stranger: Tenant) -> None:
    """The demo comes with tables."""
    with stranger.tx():
        assert Resource.objects.count() > 5
