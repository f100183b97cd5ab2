"""Patterns of what customers say in any scenario, in the five languages of the phrase book."""

from __future__ import annotations

import re


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE)


BYE = _any(
    r"\b(?:good ?bye|bye|see you|that(?:'s| is| was) (?:all|everything)|nothing else|arrivederci|"
    r"tschüss|auf wiedersehen|au revoir|adi[oó]s|ciao ciao|have a (?:good|nice|lovely) \w+)\b",
)
THANKS = _any(
    r"^\W*(?:(?:ok|okay|great|perfect|super|alright|no)\W+)*(?:many )?(?:thanks?|thank you|"
    r"grazie|danke|merci|gracias|cheers)\b",
)
NOTHING_MORE = _any(r"^\W*(?:no|nope|nein|non|nothing|niente|nichts|rien|nada)\b.{0,30}$")
PERSON = _any(
    r"\b(?:speak|talk|connect|transfer|put me through)\b.{0,25}\b(?:person|human|someone|somebody|manager|owner|"
    r"colleague|agent|staff|lucia)\b|\breal person\b|\bhuman being\b|\bcall me back\b",
    r"\b(?:get|want|need|give|find)\b(?: me| to \w+ to)? (?:an? |the |some )?(?:(?:real|actual|live) )?"
    r"(?:human|person|somebody|someone|manager|operator|colleague|agent)\b|\b(?:human|person),? please\b",
    r"\bparlare con (?:un[ao]? |il |la |qualcuno)(?:persona|umano|operatore|titolare|responsabile|collega)?",
    r"\bmit (?:jemandem|(?:einem|einer|dem|der) (?:\w+ )?(?:menschen|person|mitarbeiter\w*|kolleg\w+|chef\w*))\b",
    r"\bparler (?:à|avec) (?:quelqu'un|un[e]? (?:vraie? )?(?:personne|humain|conseiller|collègue|responsable)|le patron)\b",
    r"\bhablar con (?:alguien|el encargado|un[a]? (?:persona|humano|agente|compañer\w))\b",
)
# A call or message that was asked for before, and isn't wanted any more.
TAKEN_BACK = _any(
    r"\b(?:needn['’]t|no (?:longer )?need (?:for \w+ )?to|not necessary to)\s+(?:call|phone|ring|text|e-?mail|write) me\b"
    r"|\b(?:don['’]t|do not) (?:bother to )?(?:call|phone|ring) me back\b",
    r"\b(?:anruf|rückruf)\w* (?:ist|brauche ich) nicht (?:mehr )?(?:nötig|notwendig)\b|\bnicht (?:mehr )?(?:zurückzu|anzu)rufen\b"
    r"|\bnon (?:serve|occorre|c'è bisogno)(?: più)? (?:che mi richiam\w+|richiamarmi)\b"
    r"|\b(?:pas la peine|plus besoin) de me (?:r?appeler|écrire)\b|\bno hace falta que me (?:llam|escrib)\w+",
)
BY_TEXT = _any(
    r"\b(?:text|sms|message) (?:me|us|it|that|them|the|my)\b|\b(?:send|get|have)\b.{0,40}\b(?:text|"
    r"sms)\b|\bby (?:text|sms)\b|\b(?:un sms|per sms|als sms|par sms|por sms)\b",
)
BY_MAIL = _any(
    r"\be-?mail (?:me|us|it|that|them|the)\b|\b(?:send|get|have|mail)\b.{0,40}\be-?mail\b|\bby "
    r"e-?mail\b|\b(?:per e-?mail|par e-?mail|por correo|via e-?mail)\b",
)
# The agent's instructions, as opposed to its answers.
INSTRUCTIONS = r"(?:instruction|directive|guideline|istruzion|anweisung|vorgabe|consigne|instruccion|directiv|direttiv)\w*|prompts?"
RULES = (
    r"(?:rules|regole|regeln|règles|reglas|procedures|scenarios|configuration|programming)(?! (?:about|for|on|with)\b)"
)
YOUR = r"your|tuoi?|tue|sue|ihre|deine|vos|tes|sus|tus|internal|secret|hidden"
INJECTION = _any(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|rules?|prompt|previous|above|everything)\b",
    rf"\b(?:{YOUR}|the|these|those|le|les|las|initial|original|all)\s+(?:\w+ )?(?:{INSTRUCTIONS})\b|\b(?:{YOUR}) {RULES}",
    r"\bsystem\s?prompt\b|\bsystem (?:message|instructions)\b|\bprompt de\b|\bprompt di\b",
    r"\b(?:print|repeat|output|show|reveal|display|dump|quote|recite|copy|translate|summari[sz]e|encode|list|write|read)\b.{0,40}"
    r"\b(?:above|verbatim|between|word for word|so far|preceding|(?:your|the) (?:prompt|steps|goal|context|sections?|tags?))\b",
    r"\b(?:everything|all|text|words|lines?) (?:above|before this|between)\b|</?[A-Z]\w+>|\b(?:CurrentTaskAnalysis|BusinessContext|"
    r"LatestMessages|ActionStates)\b",
    r"\byou are now\b|\bdeveloper mode\b|\bjailbreak\w*\b|\bpretend (?:to be|you)\b|\bact as\b|\broleplay\b",
    r"\bwhat (?:were|are|have) you (?:been )?(?:told|instructed|programmed|supposed|asked) to\b|\bgoal of (?:the|your) next reply\b|"
    r"\byour (?:current |next )?(?:goal|task|step|steps)\b",
)
PRESENCE = _any(
    r"\b(?:is )?(?:any|some)(?:body|one) (?:still )?(?:there|here)\b|\bare you (?:still )?there\b|\bc'è qualcuno\b",
    r"\b(?:ist|noch) (?:da |noch )*jemand\b|\b(?:il )?y a(?:-t-il)? quelqu'un\b|\bhay alguien\b|^\W*qualcuno\W*\?",
    r"^\W*(?:any|some)(?:body|one)\W*\?|^\W*(?:hello|hallo|hi|hola|pronto|allô)(?:\W+(?:hello|hallo|hi))*\W*\?",
)
# How things stand with the person who was asked for.
HANDOVER = _any(
    r"\bwhen (?:will|can|does|is) (?:they|he|she|some\w+|any\w+|a \w+|the \w+|your \w+)\b",
    r"\b(?:is|are|will|does) (?:any|some)(?:body|one)\b|"
    r"\b(?:is|are|will) (?:a|your|the) (?:\w+ )?(?:colleagues?|person|human|agent|manager)\b"
    r"|\bno (?:answer|reply|response)\b|\b(?:still|been) waiting\b|\b(?:nobody|no one) (?:is|has|came|comes|answers?|there)\b",
    r"\bis (?:nobody|no one)\b|\bhow long (?:do|will|does|until|till)\b",
    r"\bquando (?:mi|arriva|chiama)|\bwann (?:ruft|kommt|meldet)|\bquand (?:est-ce|va|vient|me)|\bcuándo (?:me|viene|llama)",
)
WHEN = _any(r"\bwhen\b|\bhow long\b|\bquando\b|\bwann\b|\bquand\b|\bcuándo\b")
REPEAT = _any(
    r"\bwhat did you (?:just )?(?:say|tell me|write|mean)\b|\b(?:say|repeat) (?:that|it|this)\b|\bcan you repeat\b|\bcome again\b",
    r"\bdidn't (?:\w+ )?(?:get|catch|understand|hear) (?:that|it|you|what)\b|\bwhat was that\b|^\W*(?:what|sorry|pardon|huh)\W*\?\W*$",
    r"\b(?:cosa|che) (?:hai|ha|avete) (?:appena )?detto\b|\b(?:puoi|può) ripetere\b|\bripet[ai]\b|\bcome,? scusi\b",
    r"\bwas (?:haben sie|hast du) (?:gerade |eben )?gesagt\b|\bwie bitte\b|\bwiederhol\w+|\bnicht verstanden\b",
    r"\bqu'?(?:est-ce que vous avez|avez-vous) dit\b|\brépét\w+|^\W*pardon\W*\?|\bqué (?:dijiste|has dicho|ha dicho|dijo)\b|\brepit[ea]\w*",
)
PROMISED = _any(
    r"\bwhat (?:did|have|had) you (?:just )?(?:promis\w+|commit\w*|agreed?)\b|\bwhat (?:will|are) you (?:going to )?do(?:ing)? for me\b"
    r"|\byour promises?\b|\bwhat(?: exactly)? (?:was|is) promised\b",
    r"\bcosa (?:mi )?(?:hai|ha|avete) promesso\b|\bwas (?:haben sie|hast du) (?:mir )?(?:gerade )?versprochen\b",
    r"\bqu'?(?:est-ce que vous m'avez|m'avez-vous|avez-vous) promis\b|\bqué me (?:prometiste|has prometido|ha prometido)\b",
)
TOLD = _any(
    r"\bwhat did i (?:just )?(?:say|tell|ask|write|want|give)\b|\bwhat(?:'s| is| was) my (?:name|number|phone|e-?mail|time|day)\b",
    r"\bwhat (?:\w+ )?(?:number|name|e-?mail|day|time|date) (?:do|did) (?:you|i) (?:have|say|give|tell|note)\b",
    r"\bwhat do you know about me\b",
    r"\bhow many (?:people|of us|guests)? ?(?:is it|was it|did i|are we|have you)\b|\bdo you (?:know|remember|have) my (?:name|number)\b",
    r"\bcosa (?:ti |le |vi )?ho (?:appena )?detto\b|\bcome mi chiamo\b|\bwas habe ich (?:gerade )?gesagt\b|\bwie heiße ich\b",
    r"\bqu'est-ce que j'ai dit\b|\bcomment je m'appelle\b|\bqué (?:te |le )?(?:dije|he dicho)\b|\bcómo me llamo\b",
)
DEED = r"(?:sen[dt]|book|reserv|cancel|tell|told|call|done|do\b|pass|confirm|went|gone)\w*"
STATUS = _any(
    rf"\b(?:did|have|has) (?:you|it|they) (?:already |just |really |actually )?{DEED}",
    rf"\b(?:is|was|has) (?:it|that|everything|(?:my|the) (?:table|booking|reservation|text|sms|e-?mail|message))"
    rf" (?:now |already |been |really )*{DEED}",
    r"\b(?:hai|ha|avete) (?:già )?(?:prenotato|mandato|inviato|disdetto)\b|\bè (?:già )?(?:prenotat|confermat|fatt)[oa]\b",
    r"\b(?:hast du|haben sie) (?:\w+ ){0,4}(?:reserviert|gebucht|geschickt|gesendet|storniert)\b|\bist (?:es|das|der tisch) (?:schon )?"
    r"(?:reserviert|gebucht|erledigt)\b",
    r"\bavez-vous (?:déjà )?(?:réservé|envoyé|annulé)\b|\best-ce (?:réservé|fait|envoyé)\b",
    r"\bha[s]? (?:reservado|enviado|mandado|cancelado)\b|\bestá (?:reservad[oa]|hecho|enviado)\b",
)
IDENTITY = _any(
    r"\bwhat(?:'s| is) your name\b|\bwho are you\b|\bwho am i (?:talking|speaking|chatting)\b",
    r"\bwho (?:made|built|trained|programmed) you\b",
    r"\bare you (?:an? |really an? |even )?(?:\w+ )?(?:bot|robot|human|machine|ai|person|computer|chatbot|chatgpt|real)\b|\bchatgpt\b",
    r"\bwh(?:at|ich) (?:ai |language )?model\b|\b(?:come ti chiami|come si chiama|chi sei|chi è lei|sei un robot)\b",
    r"\b(?:wer (?:sind sie|bist du)|wie heißen sie|wie heißt du|sind sie ein (?:mensch|bot|roboter))\b",
    r"\b(?:qui êtes-vous|comment vous appelez-vous|êtes-vous un (?:robot|humain))\b",
    r"\b(?:cómo te llamas|cómo se llama|quién eres|quién es usted|eres (?:una? )?(?:robot|bot|persona|humano))\b",
)
ABILITY = _any(
    r"\bwhat can you (?:do|help)\b|\bhow (?:can|do) you help\b|\bhow does (?:this|it) work\b|\bcosa (?:sai|puoi|può) fare\b"
    r"|\bwas (?:können sie|kannst du)\b|\bque (?:pouvez-vous|savez-vous) faire\b|\bqué (?:puedes|sabes|puede) hacer\b",
)
INSULT = _any(
    r"\b(?:idiot\w*|stupid|useless|morons?|dumb\w*|sucks?|f+u+c+k\w*|(?:bull)?shit\w*|crap|hate you|pathetic|worthless|asshole|bastard)\b",
    r"\b(?:imbecill[ei]|stronz\w+|scem[oia]|vaffanculo|dumm\w*|arschloch|scheiß\w*|scheiss\w*|nutzlos|blöd\w*|connard|merde)\b",
    r"\b(?:stupid[eoia]|imbécile?s?|estúpid\w+|inútil\w*|mierda|gilipollas|tont[oa]s?)\b",
)
# A refusal of messages or calls for good, which is no request for one.
STOP_WRITING = _any(
    r"\b(?:never|don't|do not|stop|please no|no more|no)\b(?: ever)?(?: (?:send|want|call|write|contact)(?:ing)?)?(?: me)?"
    r"(?: any| with)?(?: more)?\b.{0,12}\b(?:text|sms|e-?mail|newsletter|call|messag)(?:s|es|ing)?\b",
    r"\bnon (?:mi )?(?:mandi|scriva|chiami|mandatemi)\b|\bkeine (?:sms|e-?mails?|anrufe|nachrichten)\b"
    r"|\bplus de (?:sms|messages|mails)\b|\bno (?:me )?(?:env[ií]e|mande|llame|escriba)\b",
)
NEVER_MIND = _any(
    r"\bnever ?mind\b|\b(?:forget|drop|leave) (?:about )?(?:it|that|the (?:booking|table|reservation|cancellation|whole thing))\b(?! to)",
    r"\b(?:don't|do not|no longer) (?:want to )?(?:book|cancel|need|want|reserve)"
    r"(?: (?:it|that|anything|a table|the (?:table|booking)))?\W*(?:anymore|any more|after all|please)?\W*$",
    r"\blascia(?:mo)? (?:perdere|stare)\b|\bvergiss (?:es|das)\b|\bvergessen sie (?:es|das)\b|\blaissez tomber\b|\boubliez\b"
    r"|\bolvídalo\b|\bolvídelo\b|\bdéjalo\b|\bdéjelo\b",
)
SURE = _any(
    r"^\W*(?:and |but )?(?:are you|you) (?:really |quite |absolutely )?sure\b|^\W*sicher\W*\?|^\W*sei sicur[oa]\b|^\W*really\W*\?"
)
RUNNING_LATE = _any(r"\b(?:running late|be late|late by|delayed)\b")
# Neither a wish nor a question: "ok", "hm", a single sign.
BACKCHANNEL = _any(
    r"^\W*(?:ok(?:ay)?|h+m+|mm+|uh|um|ah|oh|well|so|right|fine|maybe|perhaps|i don't know|dunno|a|e|y)?\W*$",
)
