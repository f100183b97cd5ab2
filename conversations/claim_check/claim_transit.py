"""Lexicon of claims that a message is under way: "The SMS is on its way", "Your confirmation should arrive any minute".

Only a message counts. "Your order is on its way" is what an order tool told.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class TransitLexicon:
    """Patterns of one language, of lower-case text.

    The claim's subject is a determiner, at most three words and the name of a message; `of` is what may follow it
    ("with the details"). A verb of `carriers` comes next, then optional `fillers` and one of `firsts`, or any word if there
    are none. `claim` is found in the whole sentence, `condition` is not. `promise` in an earlier sentence of the reply
    makes the claim a part of it.
    """

    determiners: frozenset[str]
    messages: frozenset[str]
    of: frozenset[str]
    carriers: frozenset[str]
    fillers: frozenset[str]
    firsts: frozenset[str]
    claim: str
    condition: str
    promise: str

    def is_claim(self, text: str) -> bool:
        """True if a sentence with the subject and verb of a claim is one."""
        return self._claim.search(text) is not None and self._condition.search(text) is None

    def promises(self, text: str) -> bool:
        """True if the text promises to send something."""
        return self._promise.search(text) is not None

    @cached_property
    def _claim(self) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{self.claim})\b")

    @cached_property
    def _condition(self) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{self.condition})\b")

    @cached_property
    def _promise(self) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{self.promise})\b")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


TRANSITS: Mapping[str, TransitLexicon] = {
    "en": TransitLexicon(
        determiners=_words("the your an a that this"),
        messages=_words("sms text message email e-mail link details confirmation invitation"),
        of=_words("with for about from to of including containing"),
        carriers=_words("is are should will has have"),
        fillers=_words("already now just also both all"),
        firsts=_words("on arrive arriving be reach coming heading headed land gone"),
        claim=r"on (?:its|their|the) way|gone out|(?:coming|heading|headed) (?:your way|to you)"
        r"|(?:arriv|reach|land|be (?:with you|there|in your)).*\b(?:any (?:minute|moment|second)|shortly|soon|momentarily"
        r"|in a (?:few )?(?:minute|moment|second)s?|within (?:a few |the next )?(?:minute|second)s?|right away|now)",
        condition=r"once|if|when|after|until|as soon as|unless|not|never",
        promise=r"i'll|i will|i'm (?:going to|sending|texting|emailing)|i am (?:going to|sending|texting)|let me",
    ),
    "de": TransitLexicon(
        determiners=_words("die der das ihr ihre eine ein dein deine"),
        messages=_words(
            "sms nachricht textnachricht e-mail email mail link bestätigung buchungsbestätigung bestätigungsmail "
            "bestätigungs-e-mail reservierungsbestätigung einladung einzelheiten details"
        ),
        of=_words("mit für zu zur zum von über"),
        carriers=_words("ist sind sollte sollten müsste müssten dürfte dürften wird werden kommt kommen trifft"),
        fillers=frozenset(),
        firsts=frozenset(),
        claim=r"unterwegs|auf dem weg"
        r"|(?:sollte|müsste|dürfte|wird|werde|komm|triff).*\b(?:jeden (?:moment|augenblick)|jede minute|gleich|in kürze"
        r"|sofort|in wenigen (?:minuten|sekunden|augenblicken)|in einer minute)",
        condition=r"sobald|wenn|falls|nachdem|nicht|noch|erst",
        promise=r"ich (?:schicke|sende|werde|maile|schreibe)|wir (?:schicken|senden|werden)",
    ),
    "fr": TransitLexicon(
        determiners=_words("le la les un une votre vos ton ta ce cet cette"),
        messages=_words(
            "sms texto message courriel e-mail email mail lien confirmation invitation détails l'e-mail l'email "
            "l'invitation l'sms"
        ),
        of=_words("de avec pour du des d'accès"),
        carriers=_words("est sont devrait devraient va vont arrive arrivent arrivera arriveront"),
        fillers=frozenset(),
        firsts=frozenset(),
        claim=r"en route|en chemin|arriv\w*.*\b(?:d'une (?:minute|seconde) à l'autre|d'un (?:instant|moment) à l'autre"
        r"|sous peu|dans (?:un instant|quelques (?:instants|minutes|secondes)|une minute)|tout de suite)",
        condition=r"dès|si|quand|lorsque|après|pas",
        promise=r"je (?:vous |te |t'|l')*(?:envoie|enverrai|vais|transmets)|nous (?:vous )?(?:envoyons|enverrons|allons)",
    ),
    "es": TransitLexicon(
        determiners=_words("el la los un una su sus tu tus este esta"),
        messages=_words("sms mensaje correo email e-mail enlace confirmación invitación detalles"),
        of=_words("de con para del electrónico"),
        carriers=_words("está están va van debería deberían debe deben le te les llegará llegarán llega"),
        fillers=frozenset(),
        firsts=frozenset(),
        claim=r"en camino|lleg\w*.*\b(?:en cualquier momento|en breve|enseguida|en seguida|en (?:unos|un) "
        r"(?:momento|instante|minuto|segundo)s?|ahora mismo|pronto)|por llegar",
        condition=r"cuando|si|después|hasta|en cuanto|no|una vez",
        promise=r"(?:envío|mando|enviaré|mandaré|enviamos|mandamos|voy a|vamos a)",
    ),
    "it": TransitLexicon(
        determiners=_words("il lo la i gli un una questo questa"),
        messages=_words(
            "sms messaggio email e-mail mail link conferma invito dettagli l'sms l'email l'e-mail l'invito un'email un'e-mail"
        ),
        of=_words("di con per del della"),
        carriers=_words("è sono sta stanno dovrebbe dovrebbero arriverà arriveranno arriva le ti vi"),
        fillers=frozenset(),
        firsts=frozenset(),
        claim=r"in arrivo|per strada|in viaggio|sta(?:nno)? arrivando|arriv\w*.*\b(?:a momenti|a breve|tra (?:poco|pochi|un)"
        r"|fra (?:poco|pochi|un)|da un momento all'altro|subito)",
        condition=r"quando|se|dopo|appena|non|una volta",
        promise=r"(?:invio|mando|invierò|manderò|inviamo|mandiamo|spedisco)",
    ),
}
