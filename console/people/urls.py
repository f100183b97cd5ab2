"""URLs of accounts, members, invitations and API keys."""

from __future__ import annotations

from django.urls import path

from console.csv_export import csv_view
from console.people import (
    accept_invitation,
    account,
    audit_log,
    browsers,
    invitations,
    keys,
    members,
    notice_settings,
    welcome,
)
from console.people.audit_export import AUDIT_LOG

HERE = "p/<slug:project_slug>"

urlpatterns = [
    path("account/", account.account, name="account"),
    path("account/notices/", notice_settings.notice_settings, name="notice_settings"),
    path("account/browsers", browsers.browsers, name="browsers"),
    path("account/browsers/<slug:browser>/test", browsers.test, name="browser_test"),
    path("account/browsers/<slug:browser>/remove", browsers.remove, name="browser_remove"),
    path("p/service-worker.js", browsers.service_worker, name="service_worker"),
    path("account/language", account.language, name="language"),
    path("account/shortcuts", account.shortcuts, name="shortcuts"),
    path("welcome", welcome.welcome, name="welcome"),
    path("invitations/<str:token>", accept_invitation.open_link, name="invitation"),
    path("join", accept_invitation.join, name="join"),
    path(f"{HERE}/members", members.members, name="members"),
    path(f"{HERE}/members/history", audit_log.trail, name="member_history"),
    path(f"{HERE}/members/history.csv", csv_view(AUDIT_LOG), name="member_history_csv"),
    path(f"{HERE}/members/<uuid:member_id>/role", members.change_role, name="member_role"),
    path(
        f"{HERE}/members/<uuid:member_id>/developer-tools",
        members.change_developer_tools,
        name="member_developer_tools",
    ),
    path(f"{HERE}/members/<uuid:member_id>/remove", members.remove, name="member_remove"),
    path(f"{HERE}/invitations/<uuid:invitation_id>/send", invitations.send_again, name="invitation_send"),
    path(f"{HERE}/invitations/<uuid:invitation_id>/revoke", invitations.take_back, name="invitation_revoke"),
    path(f"{HERE}/keys", keys.api_keys, name="api_keys"),
    path(f"{HERE}/keys/<uuid:key_id>/revoke", keys.revoke, name="api_key_revoke"),
]
