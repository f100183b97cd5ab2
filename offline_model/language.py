"""Language detection by function words and script."""

from __future__ import annotations

import re

from offline_model.wordlist import words

SMALL_WORDS: dict[str, frozenset[str]] = {
    "en": words(
        """
    the a is are you i to for and of what do can have my at in it would like please hello hi thanks thank we on
    with your yes table tonight tomorrow book how when where could this that name it's i'd i'm am me tell
    """
    ),
    "it": words(
        """
    il lo la i gli le un una di che è e per con sono vorrei avete ciao buongiorno buonasera grazie prego tavolo
    siete aperti quando dove come mi chiamo domani stasera alle persone si sì no posso prenotare quanto costa del
    della ho non salve mio mia miei mie quali qual avete ci siamo possibile c'è dov'è cos'è com'è alla al nel
    """
    ),
    "de": words(
        """
    der die das ein eine ist und ich sie wir für mit haben hallo guten tag abend danke bitte tisch möchte wann wo
    wie sind geöffnet heute morgen um uhr personen nicht ja nein zu auf am kann können reservieren mein meine
    heiße
    """
    ),
    "fr": words(
        """
    le la les un une des est et je vous nous pour avec bonjour bonsoir merci voudrais avez table quand où comment
    ce soir demain à heures personnes oui non s'il plaît pouvez réserver mon ma suis du de que êtes ouvert salut il y a
    qu'est-ce quelqu'un qui vos dit c'est j'ai m'appelle d'accord quels quelles puis
    """
    ),
    "es": words(
        """
    el la los las un una es y yo para con hola buenas buenos días tardes noches gracias quisiera quiero tienen
    mesa cuándo cuando dónde donde cómo hoy mañana a personas sí no por favor puedo reservar mi del que son está
    abierto me llamo
    """
    ),
    "pt": words(
        """
    o a os as um uma é e eu para com olá bom boa dia tarde noite obrigado obrigada queria gostaria têm mesa quando
    onde como hoje amanhã às pessoas sim não por favor posso reservar meu minha do da que são está aberto você
    """
    ),
    "nl": words(
        """
    de het een is en ik u wij voor met hallo goedendag goedemorgen goedenavond dank bedankt graag hebben tafel
    wanneer waar hoe vandaag morgen om uur personen ja nee niet kan kunnen reserveren mijn jullie open zijn wil op
    """
    ),
    "pl": words(
        """
    i w na z do jest się nie tak proszę dzień dobry wieczór cześć dziękuję chciałbym chciałabym macie stolik kiedy
    gdzie jak dziś jutro osób osoby mam czy zarezerwować o godzinie moje mój dla
    """
    ),
    "tr": words(
        """
    bir ve bu için ile de da ne nasıl var yok mı mi mu mü misiniz ben biz siz bana bize size merhaba selam
    teşekkürler teşekkür ederim lütfen evet hayır iyi günler akşamlar masa kişi kişilik saat yarın bugün
    istiyorum isterim rica ederim sağ olun mısınız musunuz değil
    """
    ),
}
SIGNS: dict[str, str] = {
    "de": "äöüß",
    "fr": "çœêèàùîûë",
    "es": "ñ¿¡",
    "pt": "ãõ",
    "pl": "łśżźćńąę",
    "it": "ìò",
    "nl": "ĳ",
    "tr": "ığş",
}
SCRIPTS = (
    ("uk", re.compile(r"[іїєґ]", re.IGNORECASE)),
    ("ru", re.compile(r"[а-яё]", re.IGNORECASE)),
    ("el", re.compile(r"[α-ωά-ώ]", re.IGNORECASE)),
    ("he", re.compile(r"[א-ת]")),
    ("ar", re.compile(r"[ء-ي]")),
    ("ja", re.compile(r"[ぁ-んァ-ン]")),
    ("ko", re.compile(r"[가-힣]")),
    ("zh", re.compile(r"[一-鿿]")),
)
# Small words by which another language has to lead.
LEAD = 1.5
# "Is" in Italian, alone or after an elision. In French, the letter stands inside words.
IS = re.compile(r"(?:\w+['’])?\bè\b")
WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
GREETINGS = {
    "ciao": "it",
    "buonasera": "it",
    "buongiorno": "it",
    "salve": "it",
    "bonjour": "fr",
    "bonsoir": "fr",
    "hola": "es",
    "olá": "pt",
    "merci": "fr",
    "danke": "de",
    "grazie": "it",
    "gracias": "es",
    "servus": "de",
    "cześć": "pl",
    "moin": "de",
    "hello": "en",
    "hi": "en",
    "hey": "en",
    "thanks": "en",
    "obrigado": "pt",
    "dziękuję": "pl",
    "goedendag": "nl",
    "merhaba": "tr",
    "teşekkürler": "tr",
}


def language_of(text: str, *, standing: str = "") -> str | None:
    """ISO 639-1 code, or None if the text is inconclusive (a name, a number).

    The language that a conversation has been held in so far changes only by a clear lead.
    """
    for code, pattern in SCRIPTS:
        if len(pattern.findall(text)) >= 3:
            return code
    found = [word.lower().replace("’", "'") for word in WORD.findall(re.sub(r"\S+@\S+", " ", text))]
    letters = IS.sub(" ", text.lower())
    scores = {code: _score(code, found, letters) for code in SMALL_WORDS}
    best = max(scores, key=lambda code: scores[code])
    others = max(score for code, score in scores.items() if code != best)
    if scores[best] >= 2 and scores[best] > others and scores[best] >= scores.get(standing, -LEAD) + LEAD:
        return best
    if standing and scores.get(standing, 0):
        return standing
    return next((GREETINGS[word] for word in found if word in GREETINGS), None)


def _score(code: str, found: list[str], letters: str) -> float:
    small = sum(1.0 for word in found if word in SMALL_WORDS[code])
    return small + 1.5 * sum(letters.count(sign) > 0 for sign in SIGNS.get(code, ""))
