"""What the agent says, in the five languages it greets in."""

from __future__ import annotations

PHRASES: dict[str, dict[str, str]] = {
    "en": {
        "greet": "{daytime} and welcome to {business}!",
        "help": "How can I help you?",
        "glad": "I'd be glad to find you a table.",
        "glad_general": "I'd be glad to help with that.",
        "phone": "Which phone number can we reach you on, in case we get cut off?",
        "name": "And under which name shall I keep it?",
        "date": "Which day would you like to come?",
        "time": "At what time would you like to come?",
        "party_size": "How many of you will there be?",
        "when": "Which day and time would suit you, and how many of you will there be?",
        "date_time": "Which day and time would suit you?",
        "date_party": "Which day would you like to come, and how many of you will there be?",
        "time_party": "At what time, and how many of you will there be?",
        "email": "Which e-mail address may I use?",
        "problem": "I'm sorry to hear that. What happened, and when?",
        "change": "What would you like to change, or should it be cancelled?",
        "check": "Let me check availability for {day} at {time}.",
        "lookup": "Let me look up your booking.",
        "pending": "I'm still checking, it takes only a moment.",
        "pending_other": "I'm still waiting for the answer, it takes only a moment.",
        "propose": "Shall I book the table{party} for {day} at {time}?",
        "book": "I'll book the table{party} for {day} at {time} now.",
        "cancel": "I'll cancel your booking now.",
        "confirm_cancel": "Shall I cancel it for you?",
        "booked": "Your table{party} on {day} at {time} is booked.",
        "details": "Would you like the details as a text?",
        "sms": "I'll send you a text with the details.",
        "mail": "I'll send you an e-mail with the details.",
        "hours_day": "On {day} we are open from {hours}.",
        "closed_day": "On {day} we are closed.",
        "hours_all": "Our opening hours: {hours}.",
        "items": "{items}.",
        "diet": "For {diet} guests the menu has {items}.",
        "diet_none": "The menu names nothing that is marked as {diet}, but I can ask the kitchen.",
        "unknown": "I don't know that, I'm sorry. I can pass your question on to my colleagues.",
        "pass_on": "Thank you. I'll pass it on to my colleagues today.",
        "person": "I can have a colleague call you back.",
        "transfer": "Of course. Please hold while I transfer you.",
        "thanks": "You're welcome{name}!",
        "more": "Is there anything else I can do for you?",
        "bye": "Thank you{name}. Have a lovely day, goodbye!",
        "noted": "Thank you{name}.",
        "refuse": "I can't help with that, but I'm happy to help with anything about {business}.",
        "another": "Which other day or time would suit you?",
        "and": " and ",
        "for": " for {party}",
    },
    "it": {
        "greet": "{daytime} e benvenuti alla {business}!", "help": "Come posso aiutarla?", "glad": "Le trovo volentieri un tavolo.",
        "glad_general": "La aiuto volentieri.", "phone": "A quale numero di telefono possiamo raggiungerla?", "name": "A che nome tengo il tavolo?",
        "date": "Per quale giorno?", "time": "A che ora?", "party_size": "In quanti sarete?", "when": "Per quale giorno e a che ora, e in quanti sarete?",
        "date_time": "Per quale giorno e a che ora?", "date_party": "Per quale giorno, e in quanti sarete?", "time_party": "A che ora, e in quanti sarete?",
        "email": "A quale indirizzo e-mail?", "problem": "Mi dispiace. Che cosa è successo, e quando?", "change": "Che cosa desidera cambiare, o vuole disdire?",
        "check": "Controllo subito la disponibilità per {day} alle {time}.", "lookup": "Cerco subito la sua prenotazione.",
        "pending": "Sto ancora controllando, ci vuole solo un momento.", "pending_other": "Aspetto ancora la risposta, ci vuole solo un momento.",
        "propose": "Prenoto il tavolo{party} per {day} alle {time}?", "book": "Prenoto subito il tavolo{party} per {day} alle {time}.",
        "cancel": "Annullo subito la sua prenotazione.", "confirm_cancel": "Devo annullarla?", "booked": "Il suo tavolo{party} per {day} alle {time} è prenotato.",
        "details": "Desidera i dettagli via SMS?", "sms": "Le mando un SMS con i dettagli.", "mail": "Le mando un'e-mail con i dettagli.",
        "hours_day": "{day} siamo aperti dalle {hours}.", "closed_day": "{day} siamo chiusi.", "hours_all": "I nostri orari: {hours}.", "items": "{items}.",
        "diet": "Per chi mangia {diet} il menù ha {items}.", "diet_none": "Nel menù non vedo niente indicato come {diet}, ma posso chiedere alla cucina.",
        "unknown": "Questo purtroppo non lo so, ma posso passare la domanda ai miei colleghi.", "pass_on": "Grazie. Lo riferisco oggi stesso ai miei colleghi.",
        "person": "Un collega può richiamarla.", "transfer": "Certo. Resti in linea, la passo a un collega.", "thanks": "Prego{name}!", "more": "Posso fare altro per lei?",
        "bye": "Grazie{name}. Buona giornata, arrivederci!", "noted": "Grazie{name}.", "refuse": "In questo non posso aiutarla, ma volentieri per tutto ciò che riguarda {business}.",
        "another": "Quale altro giorno o orario andrebbe bene?", "and": " e ", "for": " per {party}",
    },
    "de": {
        "greet": "{daytime} und willkommen bei {business}!", "help": "Wie kann ich Ihnen helfen?", "glad": "Gern finde ich einen Tisch für Sie.",
        "glad_general": "Da helfe ich Ihnen gern.", "phone": "Unter welcher Telefonnummer erreichen wir Sie?", "name": "Auf welchen Namen darf ich reservieren?",
        "date": "An welchem Tag möchten Sie kommen?", "time": "Um wie viel Uhr möchten Sie kommen?", "party_size": "Wie viele Personen werden Sie sein?",
        "when": "An welchem Tag und um wie viel Uhr, und wie viele Personen werden Sie sein?", "date_time": "An welchem Tag und um wie viel Uhr?",
        "date_party": "An welchem Tag, und wie viele Personen werden Sie sein?", "time_party": "Um wie viel Uhr, und wie viele Personen werden Sie sein?",
        "email": "An welche E-Mail-Adresse?", "problem": "Das tut mir leid. Was ist passiert, und wann?", "change": "Was möchten Sie ändern, oder soll ich stornieren?",
        "check": "Ich prüfe gleich die Verfügbarkeit für {day} um {time}.", "lookup": "Ich suche gleich Ihre Reservierung.",
        "pending": "Ich prüfe noch, es dauert nur einen Moment.", "pending_other": "Ich warte noch auf die Antwort, es dauert nur einen Moment.",
        "propose": "Soll ich den Tisch{party} für {day} um {time} reservieren?", "book": "Ich reserviere jetzt den Tisch{party} für {day} um {time}.",
        "cancel": "Ich storniere jetzt Ihre Reservierung.", "confirm_cancel": "Soll ich sie stornieren?", "booked": "Ihr Tisch{party} am {day} um {time} ist reserviert.",
        "details": "Möchten Sie die Einzelheiten als SMS?", "sms": "Ich schicke Ihnen eine SMS mit den Einzelheiten.", "mail": "Ich schicke Ihnen eine E-Mail mit den Einzelheiten.",
        "hours_day": "Am {day} haben wir von {hours} geöffnet.", "closed_day": "Am {day} haben wir geschlossen.", "hours_all": "Unsere Öffnungszeiten: {hours}.", "items": "{items}.",
        "diet": "Für Gäste, die {diet} essen, hat die Karte {items}.", "diet_none": "Auf der Karte ist nichts als {diet} gekennzeichnet, aber ich kann die Küche fragen.",
        "unknown": "Das weiß ich leider nicht, aber ich kann Ihre Frage weitergeben.", "pass_on": "Danke. Ich gebe es heute noch weiter.",
        "person": "Ein Kollege kann Sie zurückrufen.", "transfer": "Gern. Bitte bleiben Sie dran, ich verbinde Sie.", "thanks": "Gern geschehen{name}!", "more": "Kann ich sonst noch etwas für Sie tun?",
        "bye": "Danke{name}. Einen schönen Tag, auf Wiedersehen!", "noted": "Danke{name}.", "refuse": "Dabei kann ich nicht helfen, aber gern bei allem, was {business} betrifft.",
        "another": "Welcher andere Tag oder welche Uhrzeit würde passen?", "and": " und ", "for": " für {party}",
    },
    "fr": {
        "greet": "{daytime} et bienvenue chez {business} !", "help": "Comment puis-je vous aider ?", "glad": "Je vous trouve volontiers une table.",
        "glad_general": "Je vous aide volontiers.", "phone": "À quel numéro de téléphone peut-on vous joindre ?", "name": "À quel nom dois-je garder la table ?",
        "date": "Pour quel jour ?", "time": "À quelle heure ?", "party_size": "Combien serez-vous ?", "when": "Pour quel jour et à quelle heure, et combien serez-vous ?",
        "date_time": "Pour quel jour et à quelle heure ?", "date_party": "Pour quel jour, et combien serez-vous ?", "time_party": "À quelle heure, et combien serez-vous ?",
        "email": "À quelle adresse e-mail ?", "problem": "J'en suis désolé. Que s'est-il passé, et quand ?", "change": "Que souhaitez-vous changer, ou faut-il annuler ?",
        "check": "Je vérifie tout de suite la disponibilité pour {day} à {time}.", "lookup": "Je cherche tout de suite votre réservation.",
        "pending": "Je vérifie encore, cela ne prend qu'un instant.", "pending_other": "J'attends encore la réponse, cela ne prend qu'un instant.",
        "propose": "Dois-je réserver la table{party} pour {day} à {time} ?", "book": "Je réserve maintenant la table{party} pour {day} à {time}.",
        "cancel": "J'annule maintenant votre réservation.", "confirm_cancel": "Dois-je l'annuler ?", "booked": "Votre table{party} pour {day} à {time} est réservée.",
        "details": "Souhaitez-vous les détails par SMS ?", "sms": "Je vous envoie un SMS avec les détails.", "mail": "Je vous envoie un e-mail avec les détails.",
        "hours_day": "Le {day}, nous sommes ouverts de {hours}.", "closed_day": "Le {day}, nous sommes fermés.", "hours_all": "Nos horaires : {hours}.", "items": "{items}.",
        "diet": "Pour les clients {diet}, la carte propose {items}.", "diet_none": "Rien sur la carte n'est indiqué comme {diet}, mais je peux demander à la cuisine.",
        "unknown": "Je ne le sais pas, hélas, mais je peux transmettre votre question.", "pass_on": "Merci. Je le transmets aujourd'hui même.",
        "person": "Un collègue peut vous rappeler.", "transfer": "Bien sûr. Restez en ligne, je vous passe un collègue.", "thanks": "Je vous en prie{name} !", "more": "Puis-je faire autre chose pour vous ?",
        "bye": "Merci{name}. Bonne journée, au revoir !", "noted": "Merci{name}.", "refuse": "Je ne peux pas vous aider pour cela, mais volontiers pour tout ce qui concerne {business}.",
        "another": "Quel autre jour ou quelle heure vous conviendrait ?", "and": " et ", "for": " pour {party}",
    },
    "es": {
        "greet": "{daytime} y bienvenido a {business}.", "help": "¿En qué puedo ayudarle?", "glad": "Le busco una mesa con mucho gusto.",
        "glad_general": "Le ayudo con mucho gusto.", "phone": "¿A qué número de teléfono podemos llamarle?", "name": "¿A qué nombre guardo la mesa?",
        "date": "¿Para qué día?", "time": "¿A qué hora?", "party_size": "¿Cuántas personas serán?", "when": "¿Para qué día y a qué hora, y cuántas personas serán?",
        "date_time": "¿Para qué día y a qué hora?", "date_party": "¿Para qué día, y cuántas personas serán?", "time_party": "¿A qué hora, y cuántas personas serán?",
        "email": "¿A qué correo electrónico?", "problem": "Lo siento. ¿Qué ha pasado, y cuándo?", "change": "¿Qué desea cambiar, o quiere cancelar?",
        "check": "Compruebo enseguida la disponibilidad para {day} a las {time}.", "lookup": "Busco enseguida su reserva.",
        "pending": "Todavía lo estoy comprobando, es solo un momento.", "pending_other": "Todavía espero la respuesta, es solo un momento.",
        "propose": "¿Reservo la mesa{party} para {day} a las {time}?", "book": "Reservo ahora la mesa{party} para {day} a las {time}.",
        "cancel": "Cancelo ahora su reserva.", "confirm_cancel": "¿La cancelo?", "booked": "Su mesa{party} para {day} a las {time} está reservada.",
        "details": "¿Quiere los detalles por SMS?", "sms": "Le envío un SMS con los detalles.", "mail": "Le envío un correo con los detalles.",
        "hours_day": "El {day} abrimos de {hours}.", "closed_day": "El {day} está cerrado.", "hours_all": "Nuestro horario: {hours}.", "items": "{items}.",
        "diet": "Para clientes {diet}, la carta tiene {items}.", "diet_none": "En la carta no hay nada marcado como {diet}, pero puedo preguntar en la cocina.",
        "unknown": "Eso no lo sé, lo siento, pero puedo pasar su pregunta a mis compañeros.", "pass_on": "Gracias. Hoy mismo se lo digo a mis compañeros.",
        "person": "Un compañero puede llamarle.", "transfer": "Claro. No cuelgue, le paso con un compañero.", "thanks": "¡De nada{name}!", "more": "¿Puedo hacer algo más por usted?",
        "bye": "Gracias{name}. ¡Que tenga un buen día, adiós!", "noted": "Gracias{name}.", "refuse": "Con eso no puedo ayudarle, pero sí con todo lo de {business}.",
        "another": "¿Qué otro día u hora le vendría bien?", "and": " y ", "for": " para {party}",
    },
}  # fmt: skip
DAYTIMES = {
    "en": ("Good morning", "Good afternoon", "Good evening"), "it": ("Buongiorno", "Buon pomeriggio", "Buonasera"),
    "de": ("Guten Morgen", "Guten Tag", "Guten Abend"), "fr": ("Bonjour", "Bonjour", "Bonsoir"),
    "es": ("Buenos días", "Buenas tardes", "Buenas noches"),
}  # fmt: skip
DAY_WORDS = {
    "it": "lunedì martedì mercoledì giovedì venerdì sabato domenica".split(), "de": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split(),
    "fr": "lundi mardi mercredi jeudi vendredi samedi dimanche".split(), "es": "lunes martes miércoles jueves viernes sábado domingo".split(),
    "en": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
}  # fmt: skip
RANGE_WORDS = {"it": (" alle ", " e dalle "), "de": (" bis ", " und von "), "fr": (" à ", " et de "), "es": (" a ", " y de "), "en": (" to ", " and ")}


def phrase(key: str, language: str, **values: str) -> str:
    """A phrase in the language, in English when it isn't one of the five."""
    book = PHRASES.get(language, PHRASES["en"])
    return book.get(key, PHRASES["en"][key]).format(**values)


def daytime(hour: int, language: str) -> str:
    words = DAYTIMES.get(language, DAYTIMES["en"])
    return words[0] if hour < 12 else words[1] if hour < 18 else words[2]


def day_word(day: str, language: str) -> str:
    """An English weekday in the language; any other day as it is."""
    english = DAY_WORDS["en"]
    return DAY_WORDS.get(language, english)[english.index(day)] if day in english else day


def hours_in(hours: str, language: str) -> str:
    """ "12:00 to 15:00 and 18:30 to 23:00" in the language."""
    to, both = RANGE_WORDS.get(language, RANGE_WORDS["en"])
    return hours.replace(" and ", both).replace(" to ", to)
