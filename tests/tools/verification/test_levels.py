"""verify_caller by level and channel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from conversations.models import PersonaField
from conversations.models.persona import Strength
from tests.conversations.tool_runs.turns import Turns
from tests.tools.messaging.conftest import context_for
from tests.tools.verification.conftest import EMAIL, PHONE, VERIFIED, call, proofs
from tools.engine.execution.handler import Contact
from tools.models import Verification
from tools.services.verification.matching import verify_caller
from tools.services.verification.services import is_verified, record_verification

Anna = Callable[..., Turns]
NOBODY_HAS_TO, ASKED = "You don't have to prove", "please tell me the phone number"
BY_CODE = "I need a one-time code"
HERE, ELSEWHERE = PHONE, "+393339999999"


# What is asked of a customer at each level, on each channel, by the number that the call comes from.
MATRIX = {
    ("none", "phone", HERE): NOBODY_HAS_TO,
    ("none", "webcall", ""): NOBODY_HAS_TO,
    ("none", "chat", ""): NOBODY_HAS_TO,
    ("none", "portal", ""): NOBODY_HAS_TO,
    ("basic", "phone", HERE): VERIFIED,
    ("basic", "phone", "0039 333 123 4567"): VERIFIED,
    ("basic", "phone", ELSEWHERE): ASKED,
    ("basic", "phone", ""): ASKED,
    ("basic", "webcall", HERE): ASKED,
    ("basic", "chat", HERE): ASKED,
    ("basic", "whatsapp", HERE): ASKED,
    ("basic", "sms", HERE): ASKED,
    ("basic", "telegram", HERE): ASKED,
    ("basic", "portal", HERE): ASKED,
    ("code", "phone", HERE): BY_CODE,
    ("code", "webcall", HERE): BY_CODE,
    ("code", "chat", ""): BY_CODE,
    ("code", "portal", HERE): BY_CODE,
}
# What a customer says is on file, and whether it is.
SAID = [
    ("chat", {"phone": "333 123 4567"}, True),
    ("chat", {"email": " Anna@Example.org "}, True),
    ("portal", {"phone": PHONE}, True),
    ("phone", {"email": EMAIL}, True),
    ("chat", {"phone": ELSEWHERE}, False),
    ("chat", {"email": "ann@example.org"}, False),
    ("chat", {"phone": "", "email": ""}, False),
]


@pytest.mark.requirement("F20")
def test_what_is_asked_of_a_customer(anna: Anna) -> None:
    """A caller's own number is compared on the phone alone; anywhere else somebody says it."""
    found = {}
    for level, channel, calling in MATRIX:
        talk = anna(level, channel)
        told = verify(talk, calling=calling)
        found[level, channel, calling] = next(one for one in set(MATRIX.values()) if one in told)
        assert forget_proofs(talk) == (["basic"] if found[level, channel, calling] == VERIFIED else [])
    assert found == MATRIX


@pytest.mark.requirement("F20")
def test_what_matches_what_is_on_file(anna: Anna) -> None:
    """By hand, at the level basic."""
    for channel, said, is_right in SAID:
        talk = anna("basic", channel)
        assert (VERIFIED in verify(talk, said)) == is_right, said
        assert bool(forget_proofs(talk)) == is_right


@pytest.mark.requirement("F20")
@pytest.mark.parametrize(
    ("on_file", "stated", "said"),
    [
        ({"phone": PHONE}, {"email": EMAIL}, {"phone": ELSEWHERE}),
        ({"phone": PHONE}, {"email": EMAIL}, {"email": EMAIL}),
        ({"email": EMAIL}, {"phone": PHONE}, {"phone": PHONE}),
    ],
    ids=["a wrong number", "an address of their own", "a number of their own"],
)
def test_nothing_matches_what_is_not_on_file(
    anna: Anna, on_file: dict[str, str], stated: dict[str, str], said: dict[str, str]
) -> None:
    """Neither the address that isn't there, nor what the customer only said of themselves."""
    talk = anna("basic", **on_file)
    with talk.tenant.tx():
        for key, value in stated.items():
            PersonaField.objects.create(
                persona=talk.conversation.persona, key=key, value=value, strength=Strength.STATED
            )
    assert "isn't what we have on file" in verify(talk, said)
    assert proofs(talk) == []


@pytest.mark.requirement("F20")
def test_what_matches_is_no_code(anna: Anna) -> None:
    """At the level code a number that matches proves nothing."""
    talk = anna("code")
    assert BY_CODE in call(talk, "verify_caller", {"phone": PHONE})
    assert proofs(talk) == []


@pytest.mark.requirement("F20")
def test_what_is_on_file_is_never_told(anna: Anna) -> None:
    talk = anna("basic")
    told = call(talk, "verify_caller", {"phone": ELSEWHERE})
    assert "isn't what we have on file" in told
    assert PHONE not in told


@pytest.mark.requirement("F20")
def test_what_a_customer_said_of_themselves_is_not_on_file(turns: Turns) -> None:
    """Otherwise anyone would be verified by what they said before."""
    turns.configure(caller_verification="basic")
    with turns.tenant.tx():
        persona = turns.conversation.persona
        PersonaField.objects.create(persona=persona, key="phone", value=PHONE, strength=Strength.STATED)
    assert "no phone number and no e-mail address of you on file" in call(turns, "verify_caller", {"phone": PHONE})


@pytest.mark.requirement("F20")
def test_five_wrong_numbers_are_enough(anna: Anna) -> None:
    """After that the right number isn't accepted either."""
    talk = anna("basic")
    guesses = [{"name": "verify_caller", "arguments": {"phone": f"+39333000000{last}"}} for last in range(5)]
    talk.model.script("reply", tool_calls=guesses)
    talk.says("No.")
    talk.say("Try these")
    assert "can't go on trying now" in call(talk, "verify_caller", {"phone": PHONE})
    assert proofs(talk) == []


@pytest.mark.requirement("F20")
def test_guesses_at_one_moment_are_five_at_most(anna: Anna) -> None:
    """The right one among six is not found out by trying them side by side."""
    talk = anna("basic")
    guesses = [*(f"+39333000000{last}" for last in range(5)), PHONE]
    calls = [{"name": "verify_caller", "arguments": {"phone": phone}} for phone in guesses]
    talk.model.script("reply", tool_calls=calls)
    talk.says("No.")
    talk.say("Try these")
    assert proofs(talk) == []


@pytest.mark.requirement("F20")
def test_who_was_verified_is_not_asked_again_for_an_hour(anna: Anna) -> None:
    """In whichever conversation; an hour later they are."""
    first = anna("basic", "phone", calling=PHONE)
    call(first, "verify_caller")
    second = anna("basic", "chat")
    assert VERIFIED in call(second, "verify_caller")
    with second.tenant.tx():
        Verification.objects.update(verified_at=timezone.now() - timedelta(minutes=61))
    assert ASKED in call(second, "verify_caller")


@pytest.mark.requirement("F20")
def test_which_proof_satisfies_which_level(anna: Anna) -> None:
    """What the tools of bookings ask before they show or change what is somebody's."""
    satisfied = {"none": {"", "basic", "code"}, "basic": {"basic", "code"}, "code": {"code"}}
    for level, method in [(level, method) for level in satisfied for method in ("", "basic", "code")]:
        talk = anna(level)
        other = talk.on("chat", external_id="bob").conversation
        with talk.tenant.tx():
            persona, project = talk.conversation.persona, talk.tenant.project
            project.refresh_from_db()
            # What somebody else has proved is none of theirs.
            record_verification(project, persona_id=other.persona_id, conversation_id=other.pk, method="code")
            if method:
                record_verification(project, persona_id=persona.pk, conversation_id=talk.conversation.pk, method=method)
            assert is_verified(project, persona_id=persona.pk) == (method in satisfied[level])
            assert is_verified(project, persona_id=None) == (level == "none")
        forget_proofs(talk)


def verify(talk: Turns, said: dict[str, str] | None = None, *, calling: str = "") -> str:
    """What the tool answers in a conversation."""
    conversation = talk.conversation
    context = replace(
        context_for(talk.tenant, Contact(persona_id=conversation.persona_id), channel=conversation.channel),
        conversation_id=conversation.pk,
        call={"call_sid": "CA1", "caller_phone": calling},
    )
    return asyncio.run(verify_caller(said or {}, context)).told


def forget_proofs(talk: Turns) -> list[str]:
    found = proofs(talk)
    with talk.tenant.tx():
        Verification.objects.all().delete()
    return found
