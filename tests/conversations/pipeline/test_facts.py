"""Customer facts: the observer's readings are validated, ranked by strength and stored with their quotes."""

from __future__ import annotations

import pytest
from django.test import Client

from conversations.common.consents import OPT_INS
from conversations.context.turn_context import context_after
from conversations.live.event_log import open_log
from conversations.models import PersonaField, Turn
from conversations.models.persona import Strength
from conversations.prompts import observer
from conversations.prompts.observer import Confidence, ObservedFact
from conversations.turns.customer_fields import StoredFacts, store_facts
from conversations.turns.services import give_fields
from tests.conversations.conftest import Talk
from tests.conversations.pipeline.conftest import begin, configure, job_of, load_context, prompts_of
from tests.conversations.waiting.conftest import answer, answered
from tests.processes import ScriptedModel
from tools.engine.quotes import contains_words

WISH = {"key": "seat", "description": "where they would like to sit"}


def fact(field: str, value: str, *, confidence: str = "stated", quote: str = "") -> ObservedFact:
    return ObservedFact(quote=quote or value, field=field, value=value, confidence=Confidence(confidence))


def keep(talk: Talk, turn: Turn, *facts: ObservedFact) -> StoredFacts:
    """Store facts like the observer's commit does after the turn. The customer has said the quotes, except of consents."""
    context = load_context(talk, turn)
    written = "\n".join(message.content for message in context.messages)
    missing = [one for one in facts if one.field not in OPT_INS and not contains_words(one.quote, written)]
    said = [one.quote for one in missing]
    assert context.turn.message
    context.turn.message.content = "\n".join([context.turn.message.content, *said])
    with talk.tenant.tx(), open_log(talk.conversation.pk) as log:
        return store_facts(
            talk.conversation.persona_id,
            facts,
            config=context.config,
            turn=context.turn,
            transcript=context.messages,
            writes=log.writes,
        )


def known(talk: Talk) -> dict[str, str]:
    with talk.tenant.tx():
        rows = PersonaField.objects.filter(persona_id=talk.conversation.persona_id)
        return dict(rows.values_list("key", "value"))


def one_field(talk: Talk, key: str) -> PersonaField:
    with talk.tenant.tx():
        return PersonaField.objects.get(persona_id=talk.conversation.persona_id, key=key)


@pytest.mark.requirement("T11", "T17")
@pytest.mark.parametrize(
    ("field", "said", "kept"),
    [
        ("name", " Giulia Ferri ", "Giulia Ferri"),
        ("phone", "347 555 0142", "+393475550142"),
        # The number to call; an extension stays in the quote only.
        ("phone", "+1 201 555 0123 ext. 89", "+12015550123"),
        ("email", "Giulia@Example.com", "giulia@example.com"),
        ("language", "IT", "it"),
        ("language", "zh-Hant", "zh-hant"),
        ("sms_opt_in", "True", "true"),
        ("email_opt_in", "false", "false"),
        ("call_opt_in", "true", "true"),
        ("seat", "by the window", "by the window"),
    ],
)
def test_each_field_is_stored_in_one_format(field: str, said: str, kept: str, talk: Talk) -> None:
    """The five standard fields, a number of the project's region, and a project-defined field."""
    configure(talk.tenant, observer_fields=[WISH])
    keep(talk, talk.say(f"Hello, {said}"), fact(field, said))
    assert known(talk) == {field: kept}


@pytest.mark.requirement("T11")
@pytest.mark.parametrize(
    ("field", "said"),
    [
        ("name", "0142"),
        ("name", "G" * 81),
        ("phone", "12"),
        ("phone", "call me"),
        ("email", "giulia@"),
        ("language", "Italian, I think"),
        ("sms_opt_in", "maybe"),
        ("seat", "by the window"),
    ],
)
def test_an_invalid_value_is_refused_without_affecting_others(field: str, said: str, talk: Talk) -> None:
    """Other facts of the same reading are stored. No field `seat` is configured."""
    configure(talk.tenant, observer_fields=[])
    kept = keep(talk, talk.say("Hello"), fact(field, said), fact("email", "giulia@example.com"))
    assert [refused.field for refused, _ in kept.refused] == [field]
    assert known(talk) == {"email": "giulia@example.com"}


@pytest.mark.requirement("T11")
@pytest.mark.parametrize(
    ("first", "then", "stands"),
    [
        ("stated", "inferred", "Giulia"),
        ("inferred", "stated", "Marco"),
        ("stated", "stated", "Marco"),
        ("inferred", "inferred", "Marco"),
    ],
)
def test_a_weaker_reading_never_replaces_a_stronger_one(first: str, then: str, stands: str, talk: Talk) -> None:
    keep(talk, talk.say("Hello"), fact("name", "Giulia", confidence=first))
    keep(talk, talk.say("Well"), fact("name", "Marco", confidence=then))
    assert known(talk)["name"] == stands


@pytest.mark.requirement("T11")
@pytest.mark.parametrize(("then", "stands"), [("stated", "Marco"), ("inferred", "Giulia")])
def test_the_later_of_two_readings_wins_unless_it_is_weaker(then: str, stands: str, talk: Talk) -> None:
    keep(talk, talk.say("Hello"), fact("name", "Giulia"), fact("name", "Marco", confidence=then))
    assert known(talk) == {"name": stands}


@pytest.mark.requirement("T11")
def test_values_given_by_staff_are_never_replaced(talk: Talk) -> None:
    with talk.tenant.tx():
        give_fields(talk.reload().persona, {"name": "Giulia Ferri"})
    keep(talk, talk.say("Hello"), fact("name", "Marco"))
    assert known(talk)["name"] == "Giulia Ferri"


@pytest.mark.requirement("T11")
def test_a_value_stated_later_becomes_stated(talk: Talk) -> None:
    """The same name, inferred at first. Later inferences no longer replace it."""
    keep(talk, talk.say("Hello"), fact("name", "Giulia", confidence="inferred"))
    said = talk.say("Yes, I am Giulia")
    keep(talk, said, fact("name", "Giulia", quote="I am Giulia"))
    keep(talk, talk.say("Marco says hello"), fact("name", "Marco", confidence="inferred"))
    field = one_field(talk, "name")
    assert (field.value, field.strength, field.quote) == ("Giulia", Strength.STATED, "I am Giulia")
    assert field.turn_id == said.pk


@pytest.mark.requirement("T11")
def test_a_change_of_language_is_recorded(talk: Talk) -> None:
    """In the middle of a conversation."""
    keep(talk, talk.say("Hello"), fact("language", "en", confidence="inferred"))
    keep(talk, talk.say("Parlate italiano?"), fact("language", "it", confidence="inferred"))
    assert known(talk)["language"] == "it"


@pytest.mark.requirement("T11")
def test_a_requested_language_changes_after_three_messages_in_another(
    talk: Talk, worker: object, model: ScriptedModel
) -> None:
    """Single words in another language don't change it; each refused reading is stored with its turn."""
    read = [("stated", "de"), *[("inferred", "it")] * 2, ("none", ""), *[("inferred", "it")] * 3]
    languages = []
    for confidence, language in read:
        one = {"quote": language, "field": "language", "value": language, "confidence": confidence}
        model.script("observer", json={"facts": [one] if language else [], "quality": None})
        turn = talk.exchange(f"Buongiorno {language}")
        languages.append((known(talk)["language"], bool(turn["refused"])))
    assert languages == [
        ("de", False),
        ("de", True),
        ("de", True),
        ("de", False),
        ("de", True),
        ("de", True),
        ("it", False),
    ]


@pytest.mark.requirement("T11")
def test_a_language_set_by_staff_stays(talk: Talk) -> None:
    with talk.tenant.tx():
        give_fields(talk.reload().persona, {"language": "de"})
    kept = keep(talk, talk.say("Ciao"), fact("language", "it", confidence="inferred"))
    assert (kept.written, kept.refused, known(talk)["language"]) == ([], [], "de")


@pytest.mark.requirement("T11", "T17")
def test_quote_and_message_are_updated_with_the_value(talk: Talk) -> None:
    """Provenance belongs to the current value."""
    keep(talk, talk.say("I'm Giulia"), fact("name", "Giulia", quote="I'm Giulia"))
    corrected = talk.say("No, Giuliana")
    keep(talk, corrected, fact("name", "Giuliana", quote="No, Giuliana"))
    field = one_field(talk, "name")
    assert (field.quote, field.turn_id, field.message_id) == ("No, Giuliana", corrected.pk, corrected.message_id)


@pytest.mark.requirement("T11", "T17")
def test_a_quote_from_a_superseded_turn_names_its_own_message(talk: Talk) -> None:
    """The turn answers both messages, and the quote is from one of them."""
    first = talk.say("My name is Giulia")
    second = talk.say("A table for two, please")
    assert talk.turn(first)["superseded_by"] == str(second.pk)
    keep(
        talk,
        second,
        fact("name", "Giulia", quote="My name is Giulia"),
        fact("email", "g@example.com", quote="Write to g@example.com"),
    )
    assert one_field(talk, "name").message_id == first.message_id
    assert one_field(talk, "email").message_id == second.message_id


@pytest.mark.requirement("T17")
def test_facts_carry_over_to_the_customers_next_conversation(tenant) -> None:
    """Facts belong to the customer, on every channel, and to nobody else."""
    chat = begin(tenant)
    keep(chat, chat.say("Hello"), fact("name", "Giulia Ferri"))
    call, other = begin(tenant, channel="phone"), begin(tenant, external_id="another")
    assert "name: Giulia Ferri" in prompts_of(call, call.say("It's me again"))[-1]
    assert "Giulia" not in "".join(prompts_of(other, other.say("Hello")))


@pytest.mark.requirement("T17")
def test_facts_are_readable_over_the_api(talk: Talk, api: Client) -> None:
    """From the customer and from each of their conversations."""
    learned = {"email": "giulia@example.com", "language": "it", "sms_opt_in": "true"}
    keep(talk, talk.say("Hello, true"), *(fact(field, value) for field, value in learned.items()))
    customer = api.get(f"/api/v1/personas/{talk.conversation.persona_id}").json()
    assert (customer["attributes"], customer["email"]) == (learned, "giulia@example.com")
    assert [one["given"] for one in customer.pop("consents")] == [True]
    assert api.get(f"/api/v1/conversations/{talk.conversation.pk}").json()["persona"] == customer


@pytest.mark.requirement("T11")
@pytest.mark.parametrize("said", ["by the window" * 40, "by the \u202ewindow", "by the\x07window"])
def test_undisplayable_values_are_not_stored(said: str, talk: Talk) -> None:
    """10 kB, control characters and bidirectional overrides."""
    configure(talk.tenant, observer_fields=[WISH])
    [(refused, reason)] = keep(talk, talk.say("Hello"), fact("seat", said)).refused
    assert refused.field == "seat"
    assert "1 to 500" in reason or "control characters" in reason
    assert known(talk) == {}


# The observer's prompt


def asked(talk: Talk, turn: Turn) -> tuple[str, str]:
    """The stable and the volatile part of the observer's prompt after a turn's reply."""
    with talk.tenant.tx():
        request = observer.build_request(context_after(job_of(turn, lane="observer")))
    return request.messages[0]["content"], request.messages[1]["content"]


def latest_exchange(prompt: str) -> str:
    return prompt.split("<LatestExchange>")[1]


@pytest.mark.requirement("T11")
def test_the_latest_exchange_covers_every_message_the_reply_answers(talk: Talk) -> None:
    """Messages in quick succession are answered by one turn, the only one that is observed."""
    answered(talk, "Hello", "Good evening!")
    for words in ("My name is Giulia", "a table", "for six", "on Friday", "at eight", "outside"):
        turn = talk.say(words)
    answer(talk, turn, "Outside, gladly.")
    exchange = latest_exchange(asked(talk, turn)[1])
    assert "customer: My name is Giulia\ncustomer: a table\n" in exchange
    assert "Hello" not in exchange


@pytest.mark.requirement("T11")
def test_the_observer_prompt_has_known_facts_and_project_fields(talk: Talk) -> None:
    """Only new facts are to be reported."""
    configure(talk.tenant, observer_fields=[WISH])
    turn = answered(talk, "Hello")
    keep(talk, turn, fact("name", "Giulia Ferri"))
    stable, volatile = asked(talk, turn)
    assert "`seat` (where they would like to sit)" in stable
    assert "<KnownFacts>\nname: Giulia Ferri\n</KnownFacts>" in volatile


@pytest.mark.requirement("T12")
def test_only_voice_conversations_are_scored_and_as_a_whole(tenant) -> None:
    """In one project, one after the other. A score considers the whole conversation."""
    prompts = {}
    for channel in ("phone", "chat", "webcall"):
        talk = begin(tenant, channel=channel)
        for number in range(6):
            turn = answered(talk, f"Number {number}", "Yes?")
        prompts[channel] = asked(talk, turn)
    rated = {channel for channel, (stable, _) in prompts.items() if "Rate how well" in stable}
    whole = {channel for channel, (_, volatile) in prompts.items() if "Number 0" in volatile}
    assert rated == whole == {"phone", "webcall"}


# Evidence: a reading counts only if the customer's own words hold it.

OLD, NEW = "+393475550142", "+393475550199"


def read_after(talk: Talk, words: str, *facts: ObservedFact, reply: str = "All right.") -> StoredFacts:
    """Store what a model claims to have read in the customer's next message."""
    context = load_context(talk, answered(talk, words, reply))
    with talk.tenant.tx(), open_log(talk.conversation.pk) as log:
        return store_facts(
            talk.conversation.persona_id,
            facts,
            config=context.config,
            turn=context.turn,
            transcript=context.messages,
            writes=log.writes,
            has_unconfirmed=True,
        )


@pytest.mark.requirement("T11", "T17")
@pytest.mark.parametrize(
    ("said", "lie"),
    [
        ("Hello", fact("email", "evil@attacker.example", quote="my address is evil@attacker.example")),
        ("Hello there", fact("email", "evil@attacker.example", quote="Hello there")),
        ("My address is a@b.example", fact("email", "evil@attacker.example", quote="My address is a@b.example")),
        (
            "Write to evil@attacker.example.org",
            fact("email", "evil@attacker.example", quote="evil@attacker.example.org"),
        ),
        ("It is 347 555 0142", fact("phone", "+39 347 555 0199", quote="It is 347 555 0142")),
        ("Order 99347555014277", fact("phone", "347 555 0142", quote="Order 99347555014277")),
        ("I'm Giulia", fact("name", "Mallory", quote="I'm Giulia")),
        ("I'm Giulia", fact("name", "Giulia Ferri", quote="I'm Giulia")),
        ("Somewhere quiet", fact("seat", "by the window", quote="Somewhere quiet")),
        ("Hello", fact("sms_opt_in", "true", quote="yes, text me")),
        ("Hello", fact("language", "it", quote="Buongiorno")),
    ],
)
def test_a_fact_that_the_customer_did_not_say_is_refused(talk: Talk, said: str, lie: ObservedFact) -> None:
    """A model that invents the quote, or reads another value in it."""
    configure(talk.tenant, observer_fields=[WISH])
    kept = read_after(talk, said, lie)
    assert ([one for one, _ in kept.refused], kept.written) == ([lie], [])
    assert known(talk) == {}


@pytest.mark.requirement("T11", "T17")
@pytest.mark.parametrize(
    ("said", "read", "kept"),
    [
        ("Call 0039 347-555 (0142), please", fact("phone", "0039 347-555 (0142)", quote="0039 347-555 (0142)"), OLD),
        ("My number is 347 555 0142", fact("phone", "+39 347 555 0142", quote="number is 347 555 0142"), OLD),
        (
            "It's Giulia@Example.com.",
            fact("email", "giulia@example.com", quote="Giulia@Example.com"),
            "giulia@example.com",
        ),
        (
            "giulia at example dot com",
            fact("email", "giulia@example.com", quote="giulia at example dot com"),
            "giulia@example.com",
        ),
        ("Jose Nunez here", fact("name", "José Núñez", quote="Jose Nunez"), "José Núñez"),
        ("I'm Giulia, the surname is F-E-R-R-I", fact("name", "Giulia Ferri", quote="I'm Giulia"), "Giulia Ferri"),
        ("At a table by the big window", fact("seat", "by the window", quote="by the big window"), "by the window"),
        ("窓際の席がいいです", fact("seat", "窓際", quote="窓際の席"), "窓際"),
        ("Buongiorno", fact("language", "it", quote="Buongiorno"), "it"),
    ],
)
def test_a_value_is_found_in_the_words_as_people_say_it(talk: Talk, said: str, read: ObservedFact, kept: str) -> None:
    configure(talk.tenant, observer_fields=[WISH])
    read_after(talk, said, read)
    assert known(talk) == {read.field: kept}


def test_the_agents_words_and_earlier_exchanges_are_no_evidence(talk: Talk) -> None:
    read_after(talk, "My address is a@b.example", reply="Is it c@d.example?")
    for number in range(3):
        answered(talk, f"Another question, number {number}")
    kept = read_after(talk, "Yes", fact("email", "c@d.example"), fact("email", "a@b.example"))
    assert len(kept.refused) == 2


def with_contact(talk: Talk) -> None:
    """The customer has said their number, and then another one; the agent asks back."""
    read_after(talk, "My number is 347 555 0142", fact("phone", "347 555 0142"))
    changed = read_after(
        talk,
        "I have a new number, 347 555 0199",
        fact("phone", "347 555 0199"),
        reply="Is +39 347 555 0199 right?",
    )
    assert [one.field for one, _ in changed.refused] == ["phone"]
    assert known(talk) == {"phone": OLD, "unconfirmed_phone": NEW}


@pytest.mark.requirement("T11")
@pytest.mark.parametrize("answer", ["Yes, that's right", "Sì, esatto", "347 555 0199", "ok"])
def test_a_new_number_replaces_the_old_one_when_the_customer_confirms_it(talk: Talk, answer: str) -> None:
    """No model reads the confirmation."""
    with_contact(talk)
    read_after(talk, answer)
    assert known(talk) == {"phone": NEW}
    assert one_field(talk, "phone").quote == answer


@pytest.mark.requirement("T11")
@pytest.mark.parametrize(
    ("answer", "left"),
    [("No, that's wrong", {"phone": OLD}), ("What's on the menu?", {"phone": OLD, "unconfirmed_phone": NEW})],
)
def test_a_new_number_is_not_used_before_the_customer_confirms_it(
    talk: Talk, answer: str, left: dict[str, str]
) -> None:
    """The reading of a model counts for nothing here."""
    with_contact(talk)
    read_after(talk, answer, fact("phone", "347 555 0199", quote=answer))
    assert known(talk) == left


def test_a_yes_to_something_else_confirms_no_number(talk: Talk) -> None:
    """The agent hasn't named it."""
    read_after(talk, "My number is 347 555 0142", fact("phone", "347 555 0142"))
    read_after(talk, "Or 347 555 0199", fact("phone", "347 555 0199"), reply="Would you like a table?")
    read_after(talk, "Yes")
    assert known(talk)["phone"] == OLD


def test_the_agent_reads_that_a_new_number_needs_confirmation(talk: Talk) -> None:
    with_contact(talk)
    context = load_context(talk, answered(talk, "Hello?"))
    assert any("not confirmed" in one.field and one.value == NEW for one in context.facts)
