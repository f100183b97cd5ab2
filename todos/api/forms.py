"""Request bodies of the todos API."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from projects.api.serializers import StrictSerializer, TextField
from projects.models import Role
from todos.approvals import standing_rules
from todos.approvals.approve import MOST_AT_ONCE
from todos.content import types
from todos.content.plans import LONGEST_DESCRIPTION, MOST_RECIPIENTS
from todos.models import SecondApprover
from todos.models.title import LONGEST_TITLE

VERSION: dict[str, Any] = {"min_value": 1, "max_value": 2**31 - 1, "required": False}
SHA256 = r"^[0-9a-f]{64}$"
WRONG_HASH: dict[str, Any] = {
    "invalid": "must be the todo's content_hash as you retrieved it: 64 of the digits 0-9 and a-f."
}


class TypeInput(StrictSerializer):
    name = TextField(longest=types.LONGEST_NAME)
    description = TextField(longest=types.LONGEST_DESCRIPTION)
    tools = serializers.ListField(child=serializers.CharField(max_length=120), max_length=50, required=False)
    model = serializers.CharField(max_length=120, required=False, allow_blank=True)
    recipients = serializers.ListField(
        child=serializers.EmailField(max_length=254),
        max_length=MOST_RECIPIENTS,
        required=False,
        help_text="Addresses that `send_email` may write to in todos of this type that have no recipients of their own.",
    )
    approver_role = serializers.ChoiceField(choices=[Role.OPERATOR, Role.ADMIN, Role.OWNER], required=False)
    second_approver = serializers.ChoiceField(choices=SecondApprover.choices, required=False)
    limit_argument = serializers.CharField(max_length=80, required=False, allow_blank=True)
    limit_value = serializers.DecimalField(max_digits=14, decimal_places=2, required=False, allow_null=True)
    expires_after_hours = serializers.IntegerField(min_value=1, max_value=types.LONGEST_HOURS, required=False)
    is_extracted = serializers.BooleanField(required=False)


class TypePatch(TypeInput):
    name = TextField(longest=types.LONGEST_NAME, required=False)
    description = TextField(longest=types.LONGEST_DESCRIPTION, required=False)


class Plan(StrictSerializer):
    """Fields that can be set both when creating and when updating a todo."""

    title = TextField(
        longest=LONGEST_TITLE,
        required=False,
        help_text="A name for lists. By default, it is made from the description.",
    )
    type = serializers.CharField(max_length=120, required=False, allow_null=True)
    tool = serializers.CharField(max_length=120, required=False, allow_null=True)
    arguments = serializers.DictField(required=False, allow_null=True)
    recipients = serializers.ListField(
        child=serializers.EmailField(max_length=254), max_length=MOST_RECIPIENTS, required=False
    )
    persona = serializers.UUIDField(required=False, allow_null=True)


class TodoInput(Plan):
    description = TextField(longest=LONGEST_DESCRIPTION)
    conversation = serializers.UUIDField(required=False, allow_null=True)


class TodoPatch(Plan):
    description = TextField(longest=LONGEST_DESCRIPTION, required=False)
    version = serializers.IntegerField(**VERSION)


class Seen(StrictSerializer):
    """The version you are acting on. If omitted, the current version is used."""

    version = serializers.IntegerField(
        **VERSION,
        help_text="The todo's `version` as you retrieved it. Returns 409 with the differences if it has changed.",
    )
    content_hash = serializers.RegexField(
        SHA256,
        max_length=64,
        error_messages=WRONG_HASH,
        required=False,
        help_text="The todo's `content_hash` as you retrieved it. It also detects changes of a contact or a tool within the "
        "same version. Returns 409 with the differences if it has changed.",
    )


class Reason(StrictSerializer):
    reason = TextField(longest=500, required=False, allow_blank=True)


class Failure(StrictSerializer):
    reason = TextField(
        longest=500, help_text="Why it couldn't be done. Its promise is marked as broken with this reason."
    )


class Note(StrictSerializer):
    note = TextField(longest=500, required=False, allow_blank=True, help_text="How it was done.")


class Ticks(StrictSerializer):
    repeats = serializers.ListField(child=serializers.UUIDField(), max_length=100, required=False)


class ChoiceInput(StrictSerializer):
    # StrictSerializer rejects `id`; this names the field to use instead.
    meant = {"id": "todo"}
    todo = serializers.UUIDField()
    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    content_hash = serializers.RegexField(SHA256, max_length=64, error_messages=WRONG_HASH)


class ChoicesInput(StrictSerializer):
    todos = serializers.ListField(child=ChoiceInput(), max_length=MOST_AT_ONCE)
    confirmed = serializers.BooleanField(required=False, default=False)


class RejectionInput(StrictSerializer):
    meant = {"id": "todo"}
    todo = serializers.UUIDField()
    version = serializers.IntegerField(min_value=1, max_value=2**31 - 1)


class RejectionsInput(StrictSerializer):
    todos = serializers.ListField(child=RejectionInput(), max_length=MOST_AT_ONCE)
    reason = TextField(longest=500, required=False, allow_blank=True)


class RuleInput(StrictSerializer):
    tool = serializers.CharField(max_length=120)
    type = serializers.CharField(max_length=120, required=False, allow_null=True)
    allowed = serializers.DictField(required=False, default=dict)
    most_per_day = serializers.IntegerField(min_value=1, max_value=standing_rules.MOST_PER_DAY, required=False)
