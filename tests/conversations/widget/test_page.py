"""The settings page of the widget: display, changes, and validation errors."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from projects.common.origins import InvalidOrigin, origin_of
from projects.models import AuditEntry, User, Widget
from projects.widget.theme import DARK_GROUND, LIGHT_GROUND, WidgetTheme, contrast
from tests.conftest import Tenant
from tests.conversations.widget.conftest import Placed, Visitor

FORM = {
    "origins": "https://shop.example\r\n\r\nhttps://Bücher.example:443/",
    "is_enabled": "on",
    "theme.brand": "#7B2D26",
    "theme.greeting": "Ciao!",
    "theme.position": "left",
    "theme.scheme": "dark",
    "theme.language": "it",
}


def member(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def save(tenant: Tenant, client: Client | None = None, *, seen: str | None = None, **changes: str) -> Any:
    """Save the form as opened now, or in the state `seen`."""
    typed = {name.replace("__", "."): value for name, value in changes.items()}
    form = {**FORM, "seen": seen_by(tenant) if seen is None else seen, **typed}
    url = reverse("widget", args=[tenant.project.slug])
    return (client or member(tenant.owner)).post(url, form, follow=True)


def seen_by(tenant: Tenant) -> str:
    """The form's current initial values."""
    page = member(tenant.owner).get(reverse("widget", args=[tenant.project.slug])).content.decode()
    found = re.search('name="seen" value="([^"]*)"', page)
    assert found is not None
    return html.unescape(found[1])


def text(answer: Any) -> str:
    return html.unescape(answer.content.decode())


def test_the_first_save_creates_the_widget_and_shows_its_snippet(tenant: Tenant) -> None:
    before = text(member(tenant.owner).get(reverse("widget", args=[tenant.project.slug])))
    assert "data-key=" not in before
    after = text(save(tenant))
    with tenant.tx():
        widget = Widget.objects.get()
    assert f'/widget.js" data-key="{widget.public_key}"></script>' in after
    assert widget.origins == ["https://shop.example", "https://xn--bcher-kva.example"]
    assert widget.theme["brand"] == "#7b2d26"
    assert (widget.theme["position"], widget.theme["language"]) == ("left", "it")


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        ("https://Shop.Example:443/", "https://shop.example"),
        ("http://shop.example:80", "http://shop.example"),
        ("http://shop.example:443", "http://shop.example:443"),
        ("https://[2001:DB8::1]:8443", "https://[2001:db8::1]:8443"),
        ("https://Bücher.Example", "https://xn--bcher-kva.example"),
        # The older IDNA rules map it to strasse.example, which may be another owner's domain.
        ("https://straße.example", "https://xn--strae-oqa.example"),
        ("https://☃.example", "https://xn--n3h.example"),
    ],
)
def test_a_site_is_normalized_as_browsers_write_it(typed: str, named: str) -> None:
    assert origin_of(typed) == named


@pytest.mark.parametrize(
    ("typed", "sentence"),
    [
        ("*", "Wildcards aren't allowed."),
        ("https://*.shop.example", "Wildcards aren't allowed."),
        ("shop.example", "has no scheme"),
        ("ftp://shop.example", "“ftp:” isn't supported"),
        ("javascript://shop.example", "“javascript:” isn't supported"),
        ("https://shop.example/cart", "Use https://shop.example."),
        ("https://user@shop.example", "contains more than a site"),
        ("https://shop.example?x=1", "contains more than a site"),
        ("https://", "isn't a valid host name"),
        ("https://shop_.exa mple", "isn't a valid host name"),
        ("https://shop.example:99999", "isn't a valid address"),
        ("https://[::1", "isn't a valid address"),
    ],
)
def test_an_invalid_site_is_refused_with_a_suggestion(typed: str, sentence: str) -> None:
    with pytest.raises(InvalidOrigin, match=re.escape(sentence)):
        origin_of(typed)


WRONG: list[tuple[dict[str, str], str]] = [
    ({"origins": "https://a.example\nshop"}, "Line 2: “shop” has no scheme"),
    ({"origins": "\n".join(f"https://s{n}.example" for n in range(31))}, "Use at most 30 sites. There are 31."),
    ({"origins": "https://" + "a" * 300}, "Line 1 has 308 characters; the limit is 255."),
    ({"theme__brand": "red"}, "is not a color. Use # and six hexadecimal digits"),
    ({"theme__greeting": "x" * 301}, "Use at most 300 characters. This has 301."),
    ({"theme__position": "top"}, "Input should be"),
]


def test_invalid_values_are_reported_beside_their_fields_and_nothing_is_saved(tenant: Tenant) -> None:
    for changes, sentence in WRONG:
        answer = save(tenant, **changes)
        assert answer.status_code == 422, changes
        assert sentence in text(answer)
    with tenant.tx():
        assert not Widget.objects.exists()


def test_disabling_the_widget_removes_it_from_every_page(placed: Placed) -> None:
    visitor = Visitor(placed)
    assert visitor.open().status_code == 200
    save(placed.tenant, is_enabled="")
    assert visitor.open().status_code == 404


def test_the_secret_is_shown_once_and_stored_encrypted(tenant: Tenant) -> None:
    """Neither on the page, nor in the row, nor in the audit log."""
    save(tenant)
    owner = member(tenant.owner)
    shown = text(owner.post(reverse("widget_secret", args=[tenant.project.slug]), follow=True))
    secret = re.search(r'id="secret" readonly value="([\w-]{43})"', shown)
    assert secret is not None
    assert secret[1] not in text(owner.get(reverse("widget", args=[tenant.project.slug])))
    with tenant.tx():
        assert secret[1] not in str(list(Widget.objects.values()))
        assert secret[1] not in str(list(AuditEntry.objects.values()))


def test_the_audit_log_records_who_changed_what(tenant: Tenant) -> None:
    save(tenant)
    save(tenant, theme__brand="#2b4acb", origins="https://other.example")
    save(tenant, theme__brand="#2b4acb", origins="https://other.example")
    with tenant.tx():
        [changed, made] = AuditEntry.objects.filter(action="widget.changed")
    assert (made.before, made.after["sites"]) == ({}, ["https://shop.example", "https://xn--bcher-kva.example"])
    assert (changed.before["brand"], changed.after["brand"]) == ("#7b2d26", "#2b4acb")
    assert tenant.owner.email in changed.actor
    trail = text(member(tenant.owner).get(reverse("member_history", args=[tenant.project.slug])))
    assert "changed the widget" in re.sub(r"<[^>]+>|\s+", " ", trail).replace("  ", " ")


def test_a_viewer_sees_the_settings_but_changes_nothing(tenant: Tenant, viewer: User) -> None:
    client = member(viewer)
    assert client.get(reverse("widget", args=[tenant.project.slug])).status_code == 200
    assert save(tenant, client).status_code == 403


@pytest.mark.parametrize("brand", ["#000000", "#ffffff", "#7b2d26", "#ffd400", "#808080", "#2b4acb", "#f5f3ee"])
def test_every_color_keeps_its_text_and_links_readable(brand: str) -> None:
    """WCAG 1.4.3: a contrast of 4.5 to 1 for text on the color and for links in it on both backgrounds."""
    palette = WidgetTheme(brand=brand).palette()
    pairs = [(brand, palette["on"]), (palette["link_light"], LIGHT_GROUND), (palette["link_dark"], DARK_GROUND)]
    assert [pair for pair in pairs if contrast(*pair) < 4.5] == []


def standing(tenant: Tenant) -> Widget:
    with tenant.tx():
        return Widget.objects.get()


def test_concurrent_changes_of_different_fields_are_both_kept(tenant: Tenant) -> None:
    save(tenant)
    seen = seen_by(tenant)
    save(tenant, origins="https://other.example", theme__greeting="Salve!")
    assert save(tenant, seen=seen, theme__brand="#2b4acb").status_code == 200
    widget = standing(tenant)
    assert (widget.origins, widget.theme["greeting"]) == (["https://other.example"], "Salve!")
    assert widget.theme["brand"] == "#2b4acb"


def test_concurrent_changes_of_one_field_are_shown_and_not_saved(tenant: Tenant) -> None:
    """A second save goes through, with the rest of the other person's changes."""
    save(tenant)
    seen = seen_by(tenant)
    save(tenant, theme__greeting="Salve!", theme__position="right")
    refused = save(tenant, seen=seen, theme__greeting="Buongiorno!")
    shown = refused.content.decode()
    assert refused.status_code == 409
    assert f"{tenant.owner.email} saved the widget while you were editing" in shown
    assert "<del>Salve</del><ins>Buongiorno</ins>!" in shown
    assert '<option value="right" selected>' in shown
    assert standing(tenant).theme["greeting"] == "Salve!"
    save(tenant, theme__greeting="Buongiorno!")
    assert standing(tenant).theme["greeting"] == "Buongiorno!"


@pytest.mark.parametrize("nonsense", ["", "x", "[1]", '{"sites": 3}', "[" * 10_000])
def test_a_form_without_its_initial_values_overwrites_nothing(tenant: Tenant, nonsense: str) -> None:
    save(tenant)
    assert save(tenant, seen=nonsense, theme__greeting="Salve!").status_code == 409
    assert standing(tenant).theme["greeting"] == "Ciao!"
