"""One-time codes: destination, lifetime, limits and storage."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import F
from django.utils import timezone

from conversations.models import PersonaField, Turn
from conversations.models.event import EventType
from conversations.models.persona import Strength
from conversations.turns.services import give_fields
from projects.connections.integration_types import KINDS
from projects.connections.integrations import SourceEdit, connect_source
from projects.models import Source
from projects.records.attributes import set_attribute
from tenancy.tenant_models import TenantModel
from tests.conversations.tool_runs.turns import Turns
from tests.tools.messaging.mail_server import MailServer
from tests.tools.messaging.twilio_server import TwilioServer
from tests.tools.verification.conftest import EMAIL, PHONE, VERIFIED, another, call, codes, proofs, sent_codes
from tools.engine.catalogue import compile_tools
from tools.engine.execution.consent import refusal_told
from tools.engine.policy import POLICIES
from tools.models import Resource, VerificationCode
from tools.services.messaging.sms import COUNTRIES
from tools.services.verification import codes as codes_module
from tools.services.verification.codes import CodeHolder, Comparison, TooManyCodes, Verdict, compare_code, issue_code

Anna = Callable[..., Turns]
SEND, CHECK = "send_verification_code", "check_verification_code"


@pytest.fixture
def talk(anna: Anna, texts: TwilioServer) -> Turns:
    return anna("code")


def test_a_correct_code_verifies(talk: Turns, texts: TwilioServer) -> None:
    """The code goes to the number on file, and is accepted in any notation."""
    told = call(talk, SEND)
    [code] = sent_codes(texts)
    assert "by text, to your number on file that ends in 67" in told
    assert texts.script.calls[0].form["To"] == PHONE
    for _ in range(2):
        # A customer who repeats it stays verified.
        assert VERIFIED in call(talk, CHECK, {"code": f"{code[:3]} - {code[3:]}"})
    assert proofs(talk) == ["code"]


def test_an_address_given_by_the_model_gets_nothing(talk: Turns, texts: TwilioServer) -> None:
    """There is no such argument."""
    call(talk, SEND, {"by": "sms", "to": "+15005550006", "phone": "+15005550006", "email": "me@evil.example"})
    assert [one.form["To"] for one in texts.script.calls] == [PHONE]


@pytest.mark.requirement("F14")
def test_a_code_is_stored_nowhere(talk: Turns, texts: TwilioServer, caplog: pytest.LogCaptureFixture) -> None:
    """Not in any table, log or prompt, although Twilio echoes it in its response."""
    with caplog.at_level(logging.DEBUG):
        call(talk, SEND)
    [code] = sent_codes(texts)
    assert code not in caplog.text
    assert code not in json.dumps(talk.model.log())
    assert [table for table in _tables() if _holds(talk, table, code)] == []


def test_a_code_echoed_by_a_service_is_masked(talk: Turns, texts: TwilioServer) -> None:
    """In the effect's request, excerpt and error."""
    call(talk, SEND)
    [effect] = [one for turn in _turns(talk) for one in talk.effects(turn)]
    assert (effect.state, effect.kind, effect.adapter, effect.excerpt) == ("done", "verification_code", "twilio", "")
    assert effect.request["text"].startswith("•••••• is your code for")
    assert effect.arguments == {"by": "sms"}


def test_a_code_in_a_service_error_is_masked(talk: Turns, texts: TwilioServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Staff reads the error."""
    monkeypatch.setattr(codes_module.secrets, "randbelow", lambda limit: 123_456)
    texts.script.answer = (400, {"code": 30007, "message": "Filtered: 123456 is your code", "status": 400}, {})
    call(talk, SEND)
    [effect] = [one for turn in _turns(talk) for one in talk.effects(turn)]
    assert "Filtered: •••••• is your code" in effect.error


def test_an_event_does_not_show_the_typed_code(talk: Turns, texts: TwilioServer) -> None:
    """Neither does an effect."""
    call(talk, SEND)
    [code] = sent_codes(texts)
    call(talk, CHECK, {"code": code})
    assert code not in json.dumps([event.payload for event in talk.events(EventType.TOOL_CALL)])
    assert [one.tool for turn in _turns(talk) for one in talk.effects(turn)] == [SEND]


def test_a_sixth_try_is_not_compared(talk: Turns, texts: TwilioServer) -> None:
    """After five wrong codes, the correct one is rejected."""
    call(talk, SEND)
    [code] = sent_codes(texts)
    told = [call(talk, CHECK, {"code": another(code)}) for _ in range(5)]
    assert ["4 tries are left" in told[0], "1 try is left" in told[3], "the last try" in told[4]] == [True] * 3
    assert "no code that I can still take" in call(talk, CHECK, {"code": code})
    assert proofs(talk) == []


def test_a_code_expires_after_ten_minutes(talk: Turns, texts: TwilioServer) -> None:
    call(talk, SEND)
    [code], [row] = sent_codes(texts), codes(talk)
    assert row.expires_at - row.created_at == pytest.approx(timedelta(minutes=10), abs=timedelta(seconds=2))
    with talk.tenant.tx():
        VerificationCode.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "no code that I can still take" in call(talk, CHECK, {"code": code})


def test_a_new_code_expires_the_old_one(talk: Turns, texts: TwilioServer) -> None:
    call(talk, SEND)
    call(talk, SEND)
    old, new = sent_codes(texts)
    assert "That isn't the code" in call(talk, CHECK, {"code": old})
    assert VERIFIED in call(talk, CHECK, {"code": new})


def test_a_fourth_code_within_ten_minutes_is_not_sent(talk: Turns, texts: TwilioServer) -> None:
    told = [call(talk, SEND) for _ in range(4)]
    assert "three within ten minutes is the limit" in told[3]
    assert len(sent_codes(texts)) == 3


def test_a_customer_gets_a_limited_number_of_codes_a_day(
    talk: Turns, texts: TwilioServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(POLICIES, "verification_code", replace(POLICIES["verification_code"], max_per_recipient=1))
    call(talk, SEND)
    age(talk, timedelta(hours=1))
    assert "another code today" in call(talk, SEND)
    age(talk, timedelta(hours=24))
    call(talk, SEND)
    assert len(sent_codes(texts)) == 2


def test_a_projects_codes_of_a_day_are_limited(talk: Turns, texts: TwilioServer) -> None:
    with talk.tenant.tx():
        set_attribute(talk.tenant.project, "project_attributes_setting_code_daily_limit", 1)
    told = [call(talk, SEND) for _ in range(2)]
    assert ("limit for this is reached" in told[1], len(sent_codes(texts))) == (True, 1)


def age(talk: Turns, by: timedelta) -> None:
    """Let the codes be older."""
    with talk.tenant.tx():
        VerificationCode.objects.update(created_at=F("created_at") - by)


def test_a_code_of_another_conversation_is_rejected(talk: Turns, anna: Anna, texts: TwilioServer) -> None:
    """Somebody who reads it out elsewhere is somebody else."""
    call(talk, SEND)
    elsewhere = anna("code", "portal")
    assert "no code that I can still take" in call(elsewhere, CHECK, {"code": sent_codes(texts)[0]})


@pytest.mark.parametrize(
    ("scripted", "is_ended"),
    [
        ({"answer": (400, {"code": 21211, "message": "The 'To' number is not valid.", "status": 400}, {})}, True),
        ({"answer": (429, {"code": 20429, "message": "Too many requests", "status": 429}, {})}, True),
        ({"cuts": True}, False),
    ],
    ids=["refused", "not taken", "not known"],
)
def test_an_unsent_code_expires(talk: Turns, texts: TwilioServer, scripted: dict[str, Any], is_ended: bool) -> None:
    """Nobody has it, so nobody can use it. One that may have been sent stays valid."""
    vars(texts.script).update(scripted)
    call(talk, SEND)
    [row] = codes(talk)
    assert (row.expires_at <= timezone.now()) == is_ended


def test_a_code_is_never_put_in_the_outbox(anna: Anna) -> None:
    """It would reach only the team."""
    talk = anna("code")
    assert "I can't send you a code" in call(talk, SEND)
    assert codes(talk) == []


@pytest.mark.parametrize(
    ("on_file", "by", "hindrance"),
    [
        ({"email": EMAIL}, "sms", ""),
        ({"phone": PHONE, "email": EMAIL}, "email", ""),
        ({"phone": PHONE, "email": EMAIL}, "sms", "signed out"),
        ({"phone": PHONE, "email": EMAIL}, "sms", "abroad"),
        ({"email": EMAIL}, "sms", "a number that they only said"),
    ],
    ids=["no number", "as they want it", "the service refuses us", "no texts to that country", "no number on file"],
)
def test_the_code_uses_any_available_channel(
    anna: Anna, texts: TwilioServer, on_file: dict[str, str], by: str, hindrance: str
) -> None:
    """The customer's choice first, and only to the contact on file."""
    talk = anna("code", **on_file)
    with talk.tenant.tx():
        if hindrance == "signed out":
            Source.objects.filter(kind="twilio").update(needs_reauth=True)
        elif hindrance == "abroad":
            set_attribute(talk.tenant.project, COUNTRIES, "US")
        elif hindrance:
            persona = talk.conversation.persona
            PersonaField.objects.create(persona=persona, key="phone", value=PHONE, strength=Strength.STATED)
    with MailServer() as server:
        mail = {"host": "127.0.0.1", "port": str(server.port), "security": "none", "from_address": "hi@nello.example"}
        with talk.tenant.tx():
            connect_source(talk.tenant.project, KINDS["smtp"], SourceEdit(mail), by=talk.tenant.owner)
        assert "by e-mail, to your address on file a…@example.org" in call(talk, SEND, {"by": by})
    assert [row.sent_by for row in codes(talk)] == ["email"]
    assert texts.script.calls == []


@pytest.mark.parametrize("is_elsewhere", [False, True], ids=["of the customer", "of somebody with the number"])
def test_a_code_goes_by_e_mail_if_texts_are_refused(anna: Anna, texts: TwilioServer, is_elsewhere: bool) -> None:
    talk = anna("code")
    refusing = talk.on("telegram", external_id="elsewhere", phone=PHONE) if is_elsewhere else talk
    with MailServer() as server:
        mail = {"host": "127.0.0.1", "port": str(server.port), "security": "none", "from_address": "hi@nello.example"}
        with talk.tenant.tx():
            give_fields(refusing.conversation.persona, {"sms_opt_in": "false"})
            connect_source(talk.tenant.project, KINDS["smtp"], SourceEdit(mail), by=talk.tenant.owner)
        assert "by e-mail" in call(talk, SEND, {"by": "sms"})
    assert [row.sent_by for row in codes(talk)] == ["email"]
    assert texts.script.calls == []


def test_a_refused_code_is_told_as_what_the_customer_refused(anna: Anna, texts: TwilioServer) -> None:
    talk = anna("code", phone=PHONE)
    with talk.tenant.tx():
        give_fields(talk.conversation.persona, {"sms_opt_in": "false"})
    assert refusal_told("sms") in call(talk, SEND)
    assert (codes(talk), texts.script.calls) == ([], [])


def test_a_code_is_texted_if_preferred_and_both_channels_are_available(anna: Anna, texts: TwilioServer) -> None:
    talk = anna("code")
    mail = {"host": "127.0.0.1", "port": "2525", "security": "none", "from_address": "hi@nello.example"}
    with talk.tenant.tx():
        connect_source(talk.tenant.project, KINDS["smtp"], SourceEdit(mail), by=talk.tenant.owner)
    assert "by text" in call(talk, SEND, {"by": "sms"})


def test_a_code_is_not_sent_to_a_stated_address(anna: Anna, texts: TwilioServer) -> None:
    """Otherwise anyone could verify with their own address."""
    talk = anna("code", phone=PHONE)
    mail = {"host": "127.0.0.1", "port": "2525", "security": "none", "from_address": "hi@nello.example"}
    with talk.tenant.tx():
        connect_source(talk.tenant.project, KINDS["smtp"], SourceEdit(mail), by=talk.tenant.owner)
        persona = talk.conversation.persona
        PersonaField.objects.create(persona=persona, key="email", value=EMAIL, strength=Strength.STATED)
    assert "by text" in call(talk, SEND, {"by": "email"})


@pytest.mark.requirement("F20")
@pytest.mark.parametrize(
    ("level", "answer"), [("none", "You don't have to"), ("basic", "There is no need for a code here")]
)
def test_other_levels_send_no_code(anna: Anna, texts: TwilioServer, level: str, answer: str) -> None:
    talk = anna(level)
    assert answer in call(talk, SEND)
    assert texts.script.calls == []


@pytest.fixture
def holder(talk: Turns) -> Iterator[CodeHolder]:
    with talk.tenant.tx():
        yield CodeHolder(talk.tenant.project, talk.conversation.persona_id, talk.conversation.pk)


def test_concurrent_guesses_are_limited_to_five(talk: Turns) -> None:
    """Each waits for the row's lock and sees the earlier tries."""
    holder = CodeHolder(talk.tenant.project, talk.conversation.persona_id, talk.conversation.pk)
    with talk.tenant.tx():
        code = issue_code(holder, sent_by="sms", effect_id=None)
    with ThreadPoolExecutor(12) as pool:
        guesses = list(pool.map(lambda _: _guess(talk, holder, another(code.digits)), range(12)))
    assert [one.verdict for one in guesses].count(Verdict.WRONG) == 5
    assert sorted(one.tries_left for one in guesses if one.verdict is Verdict.WRONG) == [0, 1, 2, 3, 4]
    assert codes(talk)[0].tries == 5


def test_concurrently_requested_codes_are_limited_to_three(talk: Turns) -> None:
    holder = CodeHolder(talk.tenant.project, talk.conversation.persona_id, talk.conversation.pk)
    with ThreadPoolExecutor(6) as pool:
        issued = list(pool.map(lambda _: _issue(talk, holder), range(6)))
    assert (issued.count(True), len(codes(talk))) == (3, 3)


def test_codes_of_all_conversations_share_expiry_and_limit(talk: Turns, anna: Anna) -> None:
    """A customer gets three codes in ten minutes across all conversations."""
    here, there = (
        CodeHolder(one.tenant.project, one.conversation.persona_id, one.conversation.pk)
        for one in (talk, anna("code", "portal"))
    )
    with talk.tenant.tx():
        first = issue_code(here, sent_by="sms", effect_id=None)
        for _ in range(2):
            issue_code(there, sent_by="sms", effect_id=None)
        assert compare_code(here, first.digits) == Comparison(Verdict.OVER)
        with pytest.raises(TooManyCodes):
            issue_code(here, sent_by="sms", effect_id=None)


def test_a_correct_code_is_used_up(holder: CodeHolder) -> None:
    code = issue_code(holder, sent_by="sms", effect_id=None)
    assert compare_code(holder, code.digits) == Comparison(Verdict.RIGHT)
    assert compare_code(holder, code.digits) == Comparison(Verdict.OVER)


def test_codes_are_six_unpredictable_digits(holder: CodeHolder, monkeypatch: pytest.MonkeyPatch) -> None:
    """From the system's source of randomness, with leading zeros."""
    monkeypatch.setattr(codes_module.secrets, "randbelow", lambda limit: {1_000_000: 7}[limit])
    assert issue_code(holder, sent_by="sms", effect_id=None).digits == "000007"


def test_the_hash_depends_on_the_servers_key(holder: CodeHolder, settings: Any) -> None:
    """With a copy of the table alone, nobody can try a million codes."""
    code = issue_code(holder, sent_by="sms", effect_id=None)
    before = codes_module.digest_of(code.row_id, code.digits)
    settings.SECRET_KEY = "another"
    assert codes_module.digest_of(code.row_id, code.digits) != before


@pytest.mark.requirement("F08")
def test_the_three_tools_are_offered_together(talk: Turns) -> None:
    """With something to book all are offered, without it none."""
    names = {"verify_caller", SEND, CHECK, "check_availability_tool"}
    with talk.tenant.tx():
        offered = {tool.name for tool in compile_tools(talk.tenant.project, channel="chat") if tool.is_offered}
        Resource.objects.update(is_active=False)
        later = {tool.name for tool in compile_tools(talk.tenant.project, channel="chat") if tool.is_offered}
    assert names & offered >= {"verify_caller", SEND, CHECK}
    assert {"verify_caller", SEND, CHECK} & later == set()


def _guess(talk: Turns, holder: CodeHolder, typed: str) -> Comparison:
    try:
        with talk.tenant.tx():
            return compare_code(holder, typed)
    finally:
        connection.close()


def _issue(talk: Turns, holder: CodeHolder) -> bool:
    try:
        with talk.tenant.tx():
            issue_code(holder, sent_by="sms", effect_id=None)
    except TooManyCodes:
        return False
    finally:
        connection.close()
    return True


def _turns(talk: Turns) -> list[Any]:
    with talk.tenant.tx():
        return list(Turn.objects.filter(conversation=talk.conversation))


def _tables() -> list[str]:
    return [model._meta.db_table for model in apps.get_models() if issubclass(model, TenantModel)]


def _holds(talk: Turns, table: str, code: str) -> bool:
    """Return True if a row of the table contains the digits as a separate word."""
    with talk.tenant.tx(), connection.cursor() as cursor:
        cursor.execute(f'select exists (select from "{table}" as one where one::text ~ %s)', [rf"\m{code}\M"])
        return bool(cursor.fetchone()[0])
