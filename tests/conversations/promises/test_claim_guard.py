"""The claim guard: a claim of a completed action is held and checked; all other text streams on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest

from conversations.claim_check.claim_guard import ClaimGuard, Entry, Ledger
from conversations.claim_check.claim_lexicon import HONEST
from tests.conftest import Tenant
from tests.conversations.pipeline.conftest import configure, last_prompt
from tests.conversations.promises.conftest import Desk
from tools.models import Effect, EffectState

NOT_YET, STILL, CHECKED, FAILED = (
    "That isn't done yet.",
    "I'm still on that.",
    "A colleague is checking whether that went through.",
    "That didn't work.",
)
DONE_SMS = [Entry("sms", EffectState.DONE)]


def told(text: str, entries: Sequence[Entry] = (), *, pieces: int = 5, **ledger) -> str:
    """The text the customer receives if a reply is written in pieces of this size."""
    released: list[str] = []
    checked = ClaimGuard(released.append, Ledger(entries, **ledger))
    for piece in re.findall(f"(?s).{{1,{pieces}}}", text):
        checked.write(piece)
    checked.close()
    return "".join(released)


@pytest.mark.parametrize("pieces", [1, 3, 7, 1000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I've sent you the SMS with the details. Anything else?", f"{NOT_YET} Anything else?"),
        ("I’ve just texted you the link.", NOT_YET),
        ("I sent you the details.", NOT_YET),
        ("I have already booked your table for 7 p.m. on Friday. See you!", f"{NOT_YET} See you!"),
        ("Great, I've booked it!", "Great, that isn't done yet."),
        ("Your table is booked for Friday.", NOT_YET),
        ("Your booking has been cancelled.", NOT_YET),
        ("You're booked for Friday at 7.", NOT_YET),
        ("The confirmation has been emailed to you. Bye!", f"{NOT_YET} Bye!"),
        ("I looked, and your reservation is confirmed.", "I looked, that isn't done yet."),
        ("One moment.\nI've transferred you.", f"One moment.\n{NOT_YET}"),
    ],
)
def test_an_unbacked_claim_is_replaced(text: str, expected: str, pieces: int) -> None:
    assert told(text, pieces=pieces) == expected


@pytest.mark.parametrize("pieces", [1, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "All done!",
        "It’s done.",
        "That's all taken care of.",
        "You're all set!",
        "Consider it done.",
        "Booked!",
        "It's booked for you.",
        "Everything has been arranged.",
        "They've been sent.",
        "The kitchen has been told.",
        "I've told the kitchen.",
        "I let the chef know.",
        "I've passed it on.",
        "I've made the reservation.",
        "I put you down for 7.",
        "I've opened a ticket.",
        "Your refund has been processed.",
        "I went ahead and booked it.",
    ],
)
def test_a_claim_needs_no_name_for_what_was_done(text: str, pieces: int) -> None:
    assert told(text, pieces=pieces) == NOT_YET


@pytest.mark.parametrize("pieces", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes, I've sent it. Anything else?", f"{NOT_YET} Anything else?"),
        ("One moment. Yes! It’s done.", f"One moment. {NOT_YET}"),
        ("Yes, of course. I'll send it.", "Yes, of course. I'll send it."),
        ("Yes. Yesterday we were closed.", "Yes. Yesterday we were closed."),
        ("Yes", "Yes"),
        ("Jasmine rice, yes, and soup.", "Jasmine rice, yes, and soup."),
    ],
)
def test_a_yes_goes_with_the_claim_that_it_affirms(text: str, expected: str, pieces: int) -> None:
    """ "Yes, I'm still on that." answered whether it was sent."""
    assert told(text, pieces=pieces) == expected


UNDER_WAY = [
    ("en", "The SMS is on its way."),
    ("en", "The e-mail is on its way!"),
    ("en", "Your booking confirmation should arrive any minute."),
    ("en", "The text with the details will be with you shortly."),
    ("en", "An email is already on its way to you."),
    ("en", "The details are coming your way."),
    ("de", "Die SMS ist unterwegs."),
    ("de", "Ihre Bestätigung sollte jeden Moment ankommen."),
    ("de", "Die E-Mail mit den Einzelheiten kommt gleich."),
    ("fr", "Le SMS est en route."),
    ("fr", "Votre confirmation devrait arriver d'une minute à l'autre."),
    ("fr", "L'e-mail arrive dans un instant."),
    ("es", "El mensaje está en camino."),
    ("es", "Su confirmación debería llegarle en cualquier momento."),
    ("es", "El correo electrónico le llegará en breve."),
    ("it", "L'SMS è in arrivo."),
    ("it", "La tua conferma dovrebbe arrivare a momenti."),
    ("it", "Il messaggio arriverà tra poco."),
]


@pytest.mark.parametrize("pieces", [1, 4, 1000])
@pytest.mark.parametrize(("language", "text"), UNDER_WAY)
def test_a_message_that_nobody_sent_is_not_under_way(language: str, text: str, pieces: int) -> None:
    assert told(text, pieces=pieces, language=language) == HONEST[language][3]
    assert told(text, [*DONE_SMS, Entry("email", EffectState.DONE)], pieces=pieces, language=language) == text


@pytest.mark.parametrize("pieces", [1, 4, 1000])
@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Your order is on its way and should arrive any minute."),
        ("en", "The courier with your text is on its way."),
        ("en", "The text is on the left."),
        ("en", "The link is on our page."),
        ("en", "The confirmation will arrive within a day of your order."),
        ("en", "The SMS will arrive shortly after you confirm."),
        ("en", "The text should arrive any minute once you reply."),
        ("en", "Is the SMS on its way?"),
        ("en", "The e-mail is not on its way yet."),
        ("en", "I'll text you the address. The SMS is on its way."),
        ("en", "The restaurant is on your way from the station."),
        ("de", "Ihre Bestellung ist unterwegs."),
        ("de", "Die SMS kommt, sobald Sie bestätigen."),
        ("de", "Ich schicke sie Ihnen. Die SMS kommt gleich."),
        ("fr", "Votre commande est en route."),
        ("fr", "Le SMS n'est pas encore en route."),
        ("es", "Su pedido está en camino."),
        ("es", "Le envío el enlace. El mensaje está en camino."),
        ("it", "Il tuo ordine è in arrivo."),
        ("it", "Il messaggio arriverà dopo la conferma."),
    ],
)
def test_what_else_is_under_way_passes(language: str, text: str, pieces: int) -> None:
    assert told(text, pieces=pieces, language=language) == text


ASKED = [
    ("en", "Did you send the text?", "It should arrive any minute."),
    ("en", "Where is my email?", "It's on its way."),
    ("en", "Where's my confirmation email?", "It is already on its way."),
    ("en", "And the confirmation?", "It’ll be with you shortly!"),
    ("en", "Have you sent the link?", "It has already been sent."),
    ("de", "Haben Sie die SMS geschickt?", "Sie sollte jeden Moment ankommen."),
    ("de", "Wo bleibt der Link?", "Er ist unterwegs."),
    ("fr", "Où est le SMS ?", "Il est en route."),
    ("es", "¿Dónde está el mensaje?", "Está en camino."),
    ("es", "¿Y el enlace?", "Debería llegarle en cualquier momento."),
    ("it", "Dov'è il messaggio?", "Dovrebbe arrivare a momenti."),
    ("it", "E l'SMS?", "È in arrivo."),
]


@pytest.mark.parametrize("pieces", [1, 4, 1000])
@pytest.mark.parametrize(("language", "question", "text"), ASKED)
def test_it_is_the_message_that_the_customer_asked_about(language: str, question: str, text: str, pieces: int) -> None:
    honest = HONEST[language][3]
    assert told(text, language=language, question=question, pieces=pieces) == honest
    assert told(text, language=language, question=question, pieces=pieces, is_language_known=False) == honest
    sent = [Entry("sms", EffectState.DONE), Entry("email", EffectState.DONE)]
    assert told(text, sent, language=language, question=question, pieces=pieces) == text


@pytest.mark.parametrize("pieces", [1, 4, 1000])
@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("", "It should arrive any minute."),
        ("Where is my order?", "It's on its way and should arrive any minute."),
        ("Any details on my order?", "It's on its way."),
        ("I got your email. Where is the sofa?", "It should arrive any minute."),
        ("When does the sofa come that you named in the email?", "It should arrive any minute."),
        ("Where is the parcel from your email?", "It's on its way."),
        ("Will you text me when it ships?", "It's on its way."),
        ("I'm waiting for my taxi and read your text", "It should arrive any minute."),
        ("Did you send the text?", "Iguanas are on their way. It is a text. It should be short."),
        ("Did you send the text?", "I'll text you the address now. It should arrive any minute."),
        ("Did you send the text?", "It should arrive any minute once you reply."),
        ("Did you send the text?", "It's booked out on Fridays."),
        ("Did you send the text?", "It has been cancelled by the organizer, the concert."),
    ],
)
def test_it_may_be_something_else(question: str, text: str, pieces: int) -> None:
    assert told(text, question=question, pieces=pieces) == text


def test_the_guard_reads_the_question_that_the_reply_answers(desk: Desk, worker) -> None:
    desk.model.script("reply", text="It should arrive any minute.")
    assert desk.talk.exchange("Did you send the text?")["reply"]["content"] == NOT_YET


def test_little_is_held_of_a_sentence_about_something_else() -> None:
    released: list[str] = []
    guard = ClaimGuard(released.append, Ledger())
    guard.write("The pasta al pesto ")
    assert "".join(released) == "The pasta al pesto "


def test_an_impersonal_claim_is_backed_by_what_was_done() -> None:
    assert told("All done! Anything else?", DONE_SMS) == "All done! Anything else?"


@pytest.mark.parametrize("pieces", [1, 4, 1000])
@pytest.mark.parametrize(
    "text",
    [
        "It's booked on Friday, sorry.",
        "Everything is booked tonight.",
        "It's reserved for groups.",
        "It's done with rice flour.",
        "All set menus are $16.",
        "Done well, it takes an hour.",
        "That table is taken.",
        "It's taken.",
        "I've told you our hours.",
        "I made sure that it is vegan.",
        "They have been here since 1974.",
        "I'll send you an SMS with the details.",
        "I can book it for you. Shall I?",
        "I have a table for four at 7 PM.",
        "I understand. I'd love to help.",
        "You will receive an SMS.",
        "Your table will be ready.",
        "Your booking is not confirmed.",
        "Friday at 7 is fully booked, sorry.",
        "We moved to Via Roma last year.",
        "The restaurant is open until 11.",
        "If your table is booked, you may come later.",
        "I've sent it, right?",
        "You'll read: 'Your table is booked'.",
        "12 people? I know.",
        "",
        "I",
        "Your",
    ],
)
def test_all_other_text_passes_unchanged(text: str, pieces: int) -> None:
    assert told(text, pieces=pieces) == text


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        (DONE_SMS, "I've sent you the SMS."),
        ([Entry("sms", EffectState.HELD)], "I've sent you the SMS."),
        ([Entry("webhook", EffectState.DONE)], "I've sent you the SMS."),
        ([Entry("sms", EffectState.SENDING)], STILL),
        ([Entry("sms", EffectState.UNKNOWN)], CHECKED),
        ([Entry("sms", EffectState.FAILED)], FAILED),
        ([Entry("booking", EffectState.DONE)], NOT_YET),
        ([Entry("email", EffectState.DONE)], NOT_YET),
    ],
)
def test_the_replacement_follows_the_effects_state(entries: list[Entry], expected: str) -> None:
    assert told("I've sent you the SMS.", entries) == expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("de", "Ich habe Ihnen die SMS geschickt. Noch etwas?", "Das ist noch nicht erledigt. Noch etwas?"),
        ("de", "Ich habe noch eine Frage. Wann?", "Ich habe noch eine Frage. Wann?"),
        ("de", "Ihr Tisch ist für Freitag um 19 Uhr reserviert.", "Das ist noch nicht erledigt."),
        ("fr", "J'ai bien envoyé le SMS.", "Ce n'est pas encore fait."),
        ("es", "Te he enviado el mensaje.", "Eso todavía no está hecho."),
        ("it", "La tua prenotazione è confermata.", "Non è ancora fatto."),
        ("de", "Alles erledigt!", "Das ist noch nicht erledigt."),
        ("de", "Das ist reserviert für Gruppen.", "Das ist reserviert für Gruppen."),
        ("fr", "C'est fait.", "Ce n'est pas encore fait."),
        ("es", "Ya está hecho.", "Eso todavía no está hecho."),
        ("es", "Ya le he enviado el SMS.", "Eso todavía no está hecho."),
        ("es", "El mensaje ha sido enviado.", "Eso todavía no está hecho."),
        ("es", "El mensaje es para usted.", "El mensaje es para usted."),
        ("it", "Le abbiamo inviato il messaggio.", "Non è ancora fatto."),
        ("it", "Tutto fatto!", "Non è ancora fatto."),
        ("it", "È fatto in casa.", "È fatto in casa."),
    ],
)
def test_claims_are_recognized_in_five_languages(language: str, text: str, expected: str) -> None:
    assert told(text, language=language) == expected
    assert told(text, is_language_known=False) == expected


@pytest.mark.parametrize("text", ["He ordered it. Is that right?", "A die was cast.", "Le Mans is closed."])
def test_before_the_language_is_known_other_sentences_are_left_alone(text: str) -> None:
    assert told(text, is_language_known=False) == text


def test_two_equal_claims_get_one_replacement() -> None:
    assert told("I've sent the SMS. I've booked the table. Bye!").split() == [*NOT_YET.split(), "Bye!"]


def test_after_an_operators_message_no_claim_is_replaced() -> None:
    assert told("Your table is booked.", by_hand=True) == "Your table is booked."


def test_the_first_word_of_another_sentence_is_not_delayed() -> None:
    released: list[str] = []
    checked = ClaimGuard(released.append, Ledger())
    checked.write("Good")
    assert released == ["Good"]


def test_a_claim_is_not_streamed_before_it_is_checked() -> None:
    released: list[str] = []
    checked = ClaimGuard(released.append, Ledger(DONE_SMS))
    for piece in ("I", "'ve", " sent", " you the SMS"):
        checked.write(piece)
    assert released == []
    checked.write(". ")
    checked.write("Anything else?")
    assert "".join(released) == "I've sent you the SMS. Anything else?"


def reply(desk: Desk, text: str) -> str:
    desk.model.script("reply", text=text)
    return str(desk.talk.exchange("Have you sent it?")["reply"]["content"])


def test_the_customer_gets_the_checked_reply_and_staff_sees_the_withheld_claim(desk: Desk, worker) -> None:
    assert reply(desk, "I've sent you the SMS. Anything else?") == f"{NOT_YET} Anything else?"
    with desk.tenant.tx():
        event = desk.talk.conversation.events.get(idn="claim_withheld")
    assert event.payload["text"] == "I've sent you the SMS."


EVERYTHING = (
    "All done! I've booked your table for Friday at 7. I've texted you the details, and your old booking has been "
    "cancelled. The kitchen has been told about the nuts. Everything is taken care of."
)


def state_of(desk: Desk) -> tuple[list[Any], list[Any]]:
    """Nothing may follow from a claim: no effect, and no promise."""
    return desk.effects(), desk.promises()


def test_of_a_reply_that_claims_everything_nothing_is_told_as_done(desk: Desk, worker) -> None:
    said = reply(desk, EVERYTHING)
    assert said == f"{NOT_YET}"
    with desk.tenant.tx():
        withheld = [event.payload["text"] for event in desk.talk.conversation.events.filter(idn="claim_withheld")]
    assert " ".join(withheld).count("done") == 1
    assert len(withheld) == 5
    assert state_of(desk) == ([], [])


def test_without_the_guard_the_next_reply_takes_back_what_was_claimed(desk: Desk, worker) -> None:
    """The customer reads the claims. After the turn, staff is alerted and the agent is told to correct them."""
    configure(desk.tenant, truthful_status=False)
    assert reply(desk, EVERYTHING) == EVERYTHING
    assert state_of(desk) == ([], [])
    conversation = desk.talk.reload()
    assert conversation.flag.startswith("Claimed but not done")
    desk.talk.exchange("Thanks!")
    [correction] = re.findall(r"(?s)<Correction>(.*?)</Correction>", last_prompt(desk.model, "reply"))
    assert "I've texted you the details" in correction
    assert "Nothing has done that." in correction


def test_a_project_can_disable_the_claim_guard(desk: Desk, worker) -> None:
    configure(desk.tenant, truthful_status=False)
    assert reply(desk, "I've sent you the SMS.") == "I've sent you the SMS."


def test_a_message_in_the_outbox_backs_no_claim(tenant: Tenant) -> None:
    """It was written, and nothing has left."""
    released: list[str] = []
    checked = ClaimGuard(released.append, Ledger())
    with tenant.tx():
        checked.learn([Effect(kind="sms", state=EffectState.DONE, adapter="outbox", definition={})])
    checked.write("I've sent you the SMS with the details.")
    checked.close()
    assert "".join(released) == STILL
