"""Facts about a customer: the observer's readings are checked, ranked by strength, and stored with their words."""

from __future__ import annotations

import pytest
from django.test import Client

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

WISH = {"key": "seat", "description": "where they would like to sit"}


def fact(field: str, value: str, *, confidence: str = "stated", quote: str = "") -> ObservedFact:
    return ObservedFact(quote=quote or value, field=field, value=value, confidence=Confidence(confidence))


def keep(talk: Talk, turn: Turn, *facts: ObservedFact) -> StoredFacts:
    """As the observer's commit does after the turn."""
    context = load_context(talk, turn)
    with talk.tenant.tx(), open_log(talk.conversation.pk) as log:
        return store_facts(
            talk.conversation.persona_id,
            facts,
            config=context.config,
            turn=context.turn,
            said=context.messages,
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
        # The number that can be called; its extension stays in the words that were said.
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
def test_each_field_is_kept_in_one_form(field: str, said: str, kept: str, talk: Talk) -> None:
    """The five standard fields, a number in the project's region, and a field of the project's own."""
    configure(talk.tenant, observer_fields=[WISH])
    keep(talk, talk.say("Hello"), fact(field, said))
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
def test_what_can_not_be_right_is_refused_and_takes_nothing_along(field: str, said: str, talk: Talk) -> None:
    """What else was read is kept. Nobody has asked for a seat."""
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
def test_of_two_in_one_reading_the_later_counts_unless_it_is_weaker(then: str, stands: str, talk: Talk) -> None:
    keep(talk, talk.say("Hello"), fact("name", "Giulia"), fact("name", "Marco", confidence=then))
    assert known(talk) == {"name": stands}


@pytest.mark.requirement("T11")
def test_what_staff_has_given_no_words_replace(talk: Talk) -> None:
    with talk.tenant.tx():
        give_fields(talk.reload().persona, {"name": "Giulia Ferri"})
    keep(talk, talk.say("Hello"), fact("name", "Marco"))
    assert known(talk)["name"] == "Giulia Ferri"


@pytest.mark.requirement("T11")
def test_what_is_said_outright_later_is_as_strong_as_that(talk: Talk) -> None:
    """The same name, at first only inferred; what follows from something else no longer replaces it."""
    keep(talk, talk.say("Hello"), fact("name", "Giulia", confidence="inferred"))
    said = talk.say("Yes, I am Giulia")
    keep(talk, said, fact("name", "Giulia", quote="I am Giulia"))
    keep(talk, talk.say("Marco says hello"), fact("name", "Marco", confidence="inferred"))
    field = one_field(talk, "name")
    assert (field.value, field.strength, field.quote) == ("Giulia", Strength.STATED, "I am Giulia")
    assert field.turn_id == said.pk


@pytest.mark.requirement("T11")
def test_a_customer_who_changes_the_language_is_known_by_the_newer_one(talk: Talk) -> None:
    """In the middle of a conversation."""
    keep(talk, talk.say("Hello"), fact("language", "en", confidence="inferred"))
    keep(talk, talk.say("Parlate italiano?"), fact("language", "it", confidence="inferred"))
    assert known(talk)["language"] == "it"


@pytest.mark.requirement("T11")
def test_who_writes_in_another_language_than_they_asked_for_is_known_by_it_from_the_third_time_on(
    talk: Talk, worker: object, model: ScriptedModel
) -> None:
    """A word in another language is no change of mind; what was not taken over is said with its turn."""
    read = [("stated", "de"), *[("inferred", "it")] * 2, ("none", ""), *[("inferred", "it")] * 3]
    languages = []
    for confidence, language in read:
        one = {"quote": language, "field": "language", "value": language, "confidence": confidence}
        model.script("observer", json={"facts": [one] if language else [], "quality": None})
        turn = talk.exchange("Buongiorno")
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
def test_a_language_that_staff_has_set_stays(talk: Talk) -> None:
    with talk.tenant.tx():
        give_fields(talk.reload().persona, {"language": "de"})
    kept = keep(talk, talk.say("Ciao"), fact("language", "it", confidence="inferred"))
    assert (kept.written, kept.refused, known(talk)["language"]) == ([], [], "de")


@pytest.mark.requirement("T11", "T17")
def test_the_words_and_the_message_move_with_the_value(talk: Talk) -> None:
    """Provenance is that of the value that stands."""
    keep(talk, talk.say("I'm Giulia"), fact("name", "Giulia", quote="I'm Giulia"))
    corrected = talk.say("No, Giuliana")
    keep(talk, corrected, fact("name", "Giuliana", quote="No, Giuliana"))
    field = one_field(talk, "name")
    assert (field.quote, field.turn_id, field.message_id) == ("No, Giuliana", corrected.pk, corrected.message_id)


@pytest.mark.requirement("T11", "T17")
def test_words_of_a_message_that_a_newer_turn_took_over_lead_to_that_message(talk: Talk) -> None:
    """The turn answers both, and only one of them says it."""
    first = talk.say("My name is Giulia")
    second = talk.say("A table for two, please")
    assert talk.turn(first)["superseded_by"] == str(second.pk)
    keep(
        talk,
        second,
        fact("name", "Giulia", quote="My name is Giulia"),
        fact("email", "g@example.com", quote="elsewhere"),
    )
    assert one_field(talk, "name").message_id == first.message_id
    assert one_field(talk, "email").message_id == second.message_id


@pytest.mark.requirement("T17")
def test_what_one_conversation_has_learned_is_known_in_the_customer_s_next(tenant) -> None:
    """It belongs to the customer, on whatever channel, and to nobody else."""
    chat = begin(tenant)
    keep(chat, chat.say("Hello"), fact("name", "Giulia Ferri"))
    call, other = begin(tenant, channel="phone"), begin(tenant, external_id="another")
    assert "name: Giulia Ferri" in prompts_of(call, call.say("It's me again"))[-1]
    assert "Giulia" not in "".join(prompts_of(other, other.say("Hello")))


@pytest.mark.requirement("T17")
def test_what_was_learned_is_read_over_the_api(talk: Talk, api: Client) -> None:
    """Of the customer, and with each of their conversations; the contact by itself, too."""
    learned = {"email": "giulia@example.com", "language": "it", "sms_opt_in": "true"}
    keep(talk, talk.say("Hello"), *(fact(field, value) for field, value in learned.items()))
    customer = api.get(f"/api/v1/personas/{talk.conversation.persona_id}").json()
    assert (customer["attributes"], customer["email"]) == (learned, "giulia@example.com")
    assert api.get(f"/api/v1/conversations/{talk.conversation.pk}").json()["persona"] == customer


@pytest.mark.requirement("T11")
@pytest.mark.parametrize("said", ["by the window" * 40, "by the \u202ewindow", "by the\x07window"])
def test_what_can_not_be_shown_is_not_kept(said: str, talk: Talk) -> None:
    """10 kB, control characters, and those that turn the writing round."""
    configure(talk.tenant, observer_fields=[WISH])
    [(refused, reason)] = keep(talk, talk.say("Hello"), fact("seat", said)).refused
    assert refused.field == "seat"
    assert "1 to 500" in reason or "control characters" in reason
    assert known(talk) == {}


# What the observer is asked


def asked(talk: Talk, turn: Turn) -> tuple[str, str]:
    """The stable and the volatile part of the observer's prompt after a turn's reply."""
    with talk.tenant.tx():
        request = observer.build_request(context_after(job_of(turn, lane="observer")))
    return request.messages[0]["content"], request.messages[1]["content"]


def latest_exchange(prompt: str) -> str:
    return prompt.split("<LatestExchange>")[1]


@pytest.mark.requirement("T11")
def test_the_latest_exchange_is_all_that_the_reply_answers(talk: Talk) -> None:
    """Of messages in quick succession one turn answers all, and no other is observed."""
    answered(talk, "Hello", "Good evening!")
    for words in ("My name is Giulia", "a table", "for six", "on Friday", "at eight", "outside"):
        turn = talk.say(words)
    answer(talk, turn, "Outside, gladly.")
    exchange = latest_exchange(asked(talk, turn)[1])
    assert "customer: My name is Giulia\ncustomer: a table\n" in exchange
    assert "Hello" not in exchange


@pytest.mark.requirement("T11")
def test_the_observer_is_told_what_is_known_and_which_fields_the_project_has(talk: Talk) -> None:
    """Only news is to be reported."""
    configure(talk.tenant, observer_fields=[WISH])
    turn = answered(talk, "Hello")
    keep(talk, turn, fact("name", "Giulia Ferri"))
    stable, volatile = asked(talk, turn)
    assert "`seat` (where they would like to sit)" in stable
    assert "<KnownFacts>\nname: Giulia Ferri\n</KnownFacts>" in volatile


@pytest.mark.requirement("T12")
def test_only_who_speaks_on_a_voice_channel_is_scored_and_on_the_whole_of_it(tenant) -> None:
    """In one project, one after the other; a score looks at all that was said."""
    prompts = {}
    for channel in ("phone", "chat", "webcall"):
        talk = begin(tenant, channel=channel)
        for number in range(6):
            turn = answered(talk, f"Number {number}", "Yes?")
        prompts[channel] = asked(talk, turn)
    rated = {channel for channel, (stable, _) in prompts.items() if "Rate how well" in stable}
    whole = {channel for channel, (_, volatile) in prompts.items() if "Number 0" in volatile}
    assert rated == whole == {"phone", "webcall"}
