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


# The expected question by level, channel and caller number.
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
# Claimed contact details, and whether they match.
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
def test_each_level_and_channel_asks_its_question(anna: Anna) -> None:
    """The caller's number is compared only on the phone; elsewhere the customer states it."""
    found = {}
    for level, channel, calling in MATRIX:
        talk = anna(level, channel)
        told = verify(talk, calling=calling)
        found[level, channel, calling] = next(one for one in set(MATRIX.values()) if one in told)
        assert forget_proofs(talk) == (["basic"] if found[level, channel, calling] == VERIFIED else [])
    assert found == MATRIX


@pytest.mark.requirement("F20")
def test_claimed_details_match_the_contact_on_file(anna: Anna) -> None:
    """At the level basic."""
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
def test_details_that_are_not_on_file_never_match(
    anna: Anna, on_file: dict[str, str], stated: dict[str, str], said: dict[str, str]
) -> None:
    """Neither a missing address nor details that the customer only stated."""
    talk = anna("basic", **on_file)
    with talk.tenant.tx():
        for key, value in stated.items():
            PersonaField.objects.create(
                persona=talk.conversation.persona, key=key, value=value, strength=Strength.STATED
            )
    assert "isn't what we have on file" in verify(talk, said)
    assert proofs(talk) == []


@pytest.mark.requirement("F20")
def test_a_match_does_not_satisfy_the_level_code(anna: Anna) -> None:
    talk = anna("code")
    assert BY_CODE in call(talk, "verify_caller", {"phone": PHONE})
    assert proofs(talk) == []


@pytest.mark.requirement("F20")
def test_the_contact_on_file_is_never_revealed(anna: Anna) -> None:
    talk = anna("basic")
    told = call(talk, "verify_caller", {"phone": ELSEWHERE})
    assert "isn't what we have on file" in told
    assert PHONE not in told


@pytest.mark.requirement("F20")
def test_stated_details_are_not_on_file(turns: Turns) -> None:
    """Otherwise anyone could verify with what they said before."""
    turns.configure(caller_verification="basic")
    with turns.tenant.tx():
        persona = turns.conversation.persona
        PersonaField.objects.create(persona=persona, key="phone", value=PHONE, strength=Strength.STATED)
    assert "no phone number and no e-mail address of you on file" in call(turns, "verify_caller", {"phone": PHONE})


@pytest.mark.requirement("F20")
def test_five_mismatches_block_further_tries(anna: Anna) -> None:
    """Even the right number is then rejected."""
    talk = anna("basic")
    guesses = [{"name": "verify_caller", "arguments": {"phone": f"+39333000000{last}"}} for last in range(5)]
    talk.model.script("reply", tool_calls=guesses)
    talk.says("No.")
    talk.say("Try these")
    assert "can't go on trying now" in call(talk, "verify_caller", {"phone": PHONE})
    assert proofs(talk) == []


@pytest.mark.requirement("F20")
def test_concurrent_guesses_are_limited_to_five(anna: Anna) -> None:
    """Trying six side by side does not reveal the right one."""
    talk = anna("basic")
    guesses = [*(f"+39333000000{last}" for last in range(5)), PHONE]
    calls = [{"name": "verify_caller", "arguments": {"phone": phone}} for phone in guesses]
    talk.model.script("reply", tool_calls=calls)
    talk.says("No.")
    talk.say("Try these")
    assert proofs(talk) == []


@pytest.mark.requirement("F20")
def test_a_verified_customer_is_not_asked_again_for_an_hour(anna: Anna) -> None:
    """In any conversation; an hour later they are."""
    first = anna("basic", "phone", calling=PHONE)
    call(first, "verify_caller")
    second = anna("basic", "chat")
    assert VERIFIED in call(second, "verify_caller")
    with second.tenant.tx():
        Verification.objects.update(verified_at=timezone.now() - timedelta(minutes=61))
    assert ASKED in call(second, "verify_caller")


@pytest.mark.requirement("F20")
def test_each_level_accepts_its_proofs(anna: Anna) -> None:
    """The tools check this before they reveal or change a booking."""
    satisfied = {"none": {"", "basic", "code"}, "basic": {"basic", "code"}, "code": {"code"}}
    for level, method in [(level, method) for level in satisfied for method in ("", "basic", "code")]:
        talk = anna(level)
        other = talk.on("chat", external_id="bob").conversation
        with talk.tenant.tx():
            persona, project = talk.conversation.persona, talk.tenant.project
            project.refresh_from_db()
            # Another customer's proof does not count.
            record_verification(project, persona_id=other.persona_id, conversation_id=other.pk, method="code")
            if method:
                record_verification(project, persona_id=persona.pk, conversation_id=talk.conversation.pk, method=method)
            assert is_verified(project, persona_id=persona.pk) == (method in satisfied[level])
            assert is_verified(project, persona_id=None) == (level == "none")
        forget_proofs(talk)


def verify(talk: Turns, said: dict[str, str] | None = None, *, calling: str = "") -> str:
    """Return the tool's answer in a conversation."""
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
