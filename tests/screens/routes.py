"""The routes that have a screen. A URL that is in neither list fails a test."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tests.tenancy.permission_table import ACCOUNT, BY_TOKEN, FORMS, MOVED, PAGES, PUBLIC, SIGNED

PROJECT = "p/<slug:project_slug>/"
# Routes of PAGES without a screen of their own.
PARTS = {
    "": "redirects to the project",
    f"{PROJECT}palette": "JSON for the palette",
    f"{PROJECT}todos/news": "JSON for the list of todos",
    f"{PROJECT}notices/news": "JSON for the bell",
    f"{PROJECT}people/<uuid:persona_id>/export": "a file",
    f"{PROJECT}agent/privacy/organization/export": "a file",
    f"{PROJECT}agent/models/test": "redirects to the models",
    f"{PROJECT}simulated-phone/files/<uuid:file_id>": "a file",
}
# Screens of accounts, for members and for strangers.
SIGNED_IN = (
    "account/2fa/",
    "account/2fa/totp/activate/",
    "account/2fa/webauthn/add/",
    "account/reauthenticate/",
    "account/logout/",
    "account/password/change/",
)
SIGNED_OUT = (
    "account/login/",
    "account/signup/",
    "account/inactive/",
    "account/confirm-email/",
    "account/password/reset/",
    "account/password/reset/done/",
    "account/password/reset/key/done/",
    r"account/^confirm-email/(?P<key>[-:\w]+)/$",
    r"account/^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
    "invitations/<str:token>",
    "join",
    "b/<str:token>",
    "c/<str:token>",
    "k/<slug:project_slug>/<slug:article_slug>",
)
# Routes of ACCOUNT without a screen here.
NOT_HERE = {
    "account/email/": "doesn't exist",
    "account/language": "a form's target",
    "account/shortcuts": "a form's target",
    "account/browsers": "JSON for a script",
    "account/browsers/<slug:browser>/remove": "a form's target",
    "account/browsers/<slug:browser>/test": "a form's target",
    "account/password/set/": "redirects: every member has a password",
    "account/login/code/confirm/": "redirects without a code",
    "account/2fa/authenticate/": "tests/browser/test_passkeys.py",
    "account/2fa/recovery-codes/": "tests/browser/test_passkeys.py",
    "account/2fa/recovery-codes/download/": "a file",
    "account/2fa/recovery-codes/generate/": "tests/browser/test_passkeys.py",
    "account/2fa/totp/deactivate/": "tests/browser/test_passkeys.py",
    "account/2fa/reauthenticate/": "redirects without a factor",
    "account/2fa/webauthn/": "redirects without a passkey",
    "account/2fa/webauthn/keys/<int:pk>/edit/": "tests/browser/test_passkeys.py",
    "account/2fa/webauthn/keys/<int:pk>/remove/": "tests/browser/test_passkeys.py",
    "account/2fa/webauthn/login/": "JSON for the sign-in",
    "account/2fa/webauthn/reauthenticate/": "redirects without a passkey",
    "files/<str:token>": "a file",
    "c/<str:token>/events": "a stream",
    "c/<str:token>/attachments": "an upload of a script",
    "c/<str:token>/calls": "a call of a script",
    "c/<str:token>/calls/<uuid:call_id>": "JSON for a script",
    "c/<str:token>/calls/<uuid:call_id>/events": "a stream",
    "p/<slug:project_slug>/<path:rest>": "doesn't exist",
    "demo/shop": "tests/browser/test_portal.py",
    "demo/shop/wp-json/wc/v3/orders": "the demo shop's API",
}
# Where a screen redirects to, which shows what its address asked for.
LEADS_TO = {"invitations/<str:token>": "join"}
# Pages that exist once something is there.
FILLED = (
    f"{PROJECT}todos/<uuid:todo_id>/allow",
    f"{PROJECT}tools/<str:tool_name>/history",
    f"{PROJECT}simulated-phone",
)
CONSOLE = tuple(
    page.route
    for page in PAGES
    if page.route not in PARTS
    if not page.route.endswith(".csv")
    if page.status == 200 or page.route in FILLED
)
SCREENS = (*CONSOLE, *SIGNED_IN, *SIGNED_OUT)
# The permission table's other routes: forms without a page, old addresses, files, the widget.
FILES = {page.route for page in PAGES if page.route.endswith(".csv")}
OTHERS = {page.route for page in FORMS} | FILES | MOVED | PUBLIC | SIGNED | BY_TOKEN | PARTS.keys() | NOT_HERE.keys()


# The same screens with other content.
VIEWS = (
    f"{PROJECT}inbox?view=all",
    f"{PROJECT}inbox?view=tickets",
    f"{PROJECT}inbox?q=text",
    f"{PROJECT}?days=30",
    f"{PROJECT}playground?conversation=<uuid:conversation_id>",
    f"{PROJECT}tools/send_sms_tool",
    f"{PROJECT}bookings?q=Giulia",
    f"{PROJECT}todos?view=list",
)


def address_of(route: str, ids: Mapping[str, Any]) -> str:
    """The address of a screen, with an id for each parameter. Patterns of django-allauth get a key that is invalid."""
    if "^" in route:
        return "account/confirm-email/x/" if "confirm" in route else "account/password/reset/key/1-x/"
    named = re.sub(
        r"<\w+:(\w+)>", lambda found: str(ids[found[1]]), route.replace("<str:token>", f"<t:{route[0]}_token>")
    )
    return f"{named}?with={ids['other_id']}" if named.endswith("/merge") else named


assert set(ACCOUNT) <= {*SIGNED_IN, *SIGNED_OUT, *NOT_HERE}, "see tests/screens/routes.py"
