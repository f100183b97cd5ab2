"""Sentences that are stored in English, and translated when they are shown.

Effects, jobs, calls and receipts keep why something failed. Many are written by a worker, or by a room without Django, and
models read them, too: so they are stored in English. Each stands here as its code writes it, with a placeholder for each
part that differs. What isn't listed is shown as it is stored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from django.utils.translation import get_language, gettext, gettext_noop

_GAP = re.compile(r"%\((\w+)\)s")

ENDPOINTS = (
    gettext_noop("The endpoint takes no more just now (%(status)s)."),
    gettext_noop("The endpoint answered %(status)s; whether it was done isn't known."),
    gettext_noop("The endpoint refused it (%(status)s)."),
    gettext_noop("The endpoint redirects (%(status)s), which isn't followed; enter the address it leads to."),
    gettext_noop("%(host)s did not answer within %(seconds)s seconds. Nothing was sent."),
    gettext_noop("%(host)s did not answer within %(seconds)s seconds. We don't know whether it acted on the request."),
    gettext_noop("%(host)s closed the connection. We don't know whether it acted on the request."),
    gettext_noop("%(host)s has an untrusted certificate. Nothing was sent."),
    gettext_noop("%(host)s could not be reached. Nothing was sent."),
    gettext_noop("The host name %(host)s can't be resolved."),
    gettext_noop("The host name %(host)s was not resolved in %(seconds)s seconds."),
    gettext_noop("The host name %(host)s has no address."),
    gettext_noop("This address is this machine itself (localhost)."),
    gettext_noop("This address is inside a private network (%(address)s)."),
    gettext_noop("Port %(port)s may not be called."),
    gettext_noop("The response is too long."),
    gettext_noop("The URL must begin with http:// or https://."),
    gettext_noop("The URL contains a user name or password. Put secrets in a header."),
    gettext_noop("The URL contains a space, a backslash or a control character."),
    gettext_noop("The URL's host is not a valid name or address."),
    gettext_noop("This is not a valid URL."),
)
MAIL = (
    gettext_noop("The mail server couldn't be reached: %(reason)s"),
    gettext_noop("The mail server didn't answer in time; nothing was sent."),
    gettext_noop("The mail server couldn't be reached, or disconnected; nothing was sent."),
    gettext_noop("The mail server refused the e-mail (%(code)s: %(reason)s)."),
    gettext_noop("The mail server can't take the e-mail right now (%(code)s: %(reason)s)."),
    gettext_noop("The mail server rejected the user name or password; connect it again."),
    gettext_noop("The mail server doesn't take e-mails for %(address)s; ask for another address."),
    gettext_noop("The mail server disconnected during delivery; it isn't known whether it accepted the e-mail."),
    gettext_noop("The mail server's certificate can't be trusted: %(reason)s."),
    gettext_noop("The mail server doesn't support this TLS or sign-in; check the security under Integrations."),
    gettext_noop("Too many mail servers are slow right now; nothing was sent."),
    gettext_noop("%(address)s is not a valid e-mail address; ask for it again."),
)
TEXTS = (
    gettext_noop("%(sentence)s (Twilio %(number)s)"),
    gettext_noop("The text wasn't sent. %(reason)s"),
    gettext_noop("The customer's number doesn't exist; ask for it again."),
    gettext_noop("Twilio doesn't accept the sender's number; correct it under Integrations."),
    gettext_noop("The customer's number can't be texted; ask for a mobile number."),
    gettext_noop("The Twilio account can't text this country; enable it under Geo Permissions."),
    gettext_noop("The sender's number doesn't belong to the Twilio account, or can't send texts."),
    gettext_noop("A Twilio trial account can only text verified numbers."),
    gettext_noop("The customer answered STOP to an earlier text, so none is sent to them any more."),
    gettext_noop("Twilio can't text this number from the sender's number."),
    gettext_noop("The customer's number isn't a mobile number; ask for one."),
    gettext_noop("The text is longer than 1,600 characters."),
    gettext_noop("The sender's number doesn't belong to the Twilio account."),
    gettext_noop("The Twilio account has reached its daily limit of texts."),
    gettext_noop("The customer's phone is switched off or out of reach."),
    gettext_noop("The customer's carrier blocks texts from this number."),
    gettext_noop("The customer's number doesn't exist any more."),
    gettext_noop("The customer's number is a landline, which can't be texted."),
    gettext_noop("The carrier filtered the text as spam."),
    gettext_noop("The carrier gave no reason."),
    gettext_noop("The sender's number isn't registered for texts to the United States (A2P 10DLC)."),
    gettext_noop("Twilio gave no reason."),
    gettext_noop("Twilio is limiting requests (%(status)s)."),
    gettext_noop("Twilio responded with %(status)s."),
    gettext_noop("Twilio responded with %(status)s; it isn't known whether the text was sent."),
    gettext_noop("Twilio rejected the account SID or auth token; connect it again."),
    gettext_noop("Twilio couldn't be reached: %(reason)s"),
    gettext_noop("Twilio didn't respond to the request: %(reason)s"),
)
MESSENGERS = (
    gettext_noop("The channel isn’t connected any more."),
    gettext_noop("The provider rejects the channel’s credentials. Connect it again."),
    gettext_noop("The channel’s secret can’t be read. Connect it again."),
    gettext_noop("The channel is connected to another account by now."),
    gettext_noop("The customer hasn’t written for 24 hours. Only a template may be sent now."),
    gettext_noop("The part before this one didn’t arrive."),
    gettext_noop("The customer has opted out of messages on this channel."),
    gettext_noop("The customer has blocked the bot."),
    gettext_noop("The customer’s Telegram account was deleted."),
    gettext_noop("Telegram doesn’t know this chat. The customer has to write to the bot first."),
    gettext_noop("A bot can’t write first. The customer has to write to it."),
    gettext_noop("The bot was removed from the chat."),
    gettext_noop("The message is longer than Telegram allows."),
    gettext_noop("Telegram rejected the bot's token. Enter it again."),
    gettext_noop("Telegram couldn't be reached: %(reason)s"),
    gettext_noop("Telegram answered with %(status)s; it isn't known whether the message was sent."),
    gettext_noop("Telegram is limiting requests (429)."),
    gettext_noop("Telegram refused the message: %(reason)s"),
    gettext_noop("The customer’s number has no WhatsApp, or can’t get this message."),
    gettext_noop("Meta didn’t deliver the message, to spare the customer too many of them."),
    gettext_noop("The customer has stopped messages of this business."),
    gettext_noop("WhatsApp doesn’t know this type of message."),
    gettext_noop("The template doesn’t exist in this language."),
    gettext_noop("Meta has paused the template."),
    gettext_noop("Meta has disabled the template."),
    gettext_noop("The number isn’t registered with WhatsApp."),
    gettext_noop("Meta rejected the access token. Enter a new one."),
    gettext_noop("Meta answered with %(status)s; it isn't known whether the message was sent."),
    gettext_noop("Meta is limiting messages."),
    gettext_noop("WhatsApp couldn't be reached: %(reason)s"),
    gettext_noop("A message came more than a day late and wasn’t answered."),
    gettext_noop("The customer has opted out, so nothing is answered until they write START."),
    gettext_noop("Only private chats are answered, no groups or channels."),
)
MAILBOXES = (
    gettext_noop("No mail server is connected. Connect one under Integrations, E-mail (SMTP)."),
    gettext_noop("An automatic e-mail isn’t answered."),
    gettext_noop("A mailing list or newsletter isn’t answered."),
    gettext_noop("So many e-mails came in a day that a person has to answer."),
    gettext_noop("A mail server reports on an e-mail."),
    gettext_noop("The e-mail has no sender who can be answered."),
    gettext_noop("The e-mail comes from the mailbox’s own address."),
    gettext_noop("The recipient’s mail server didn’t take the e-mail."),
    gettext_noop("The recipient’s mail server didn’t take the e-mail. %(reason)s"),
)
CALLS = (
    gettext_noop("The connection to the provider was removed."),
    gettext_noop("The agent has no published settings."),
    gettext_noop("The business is closed."),
    gettext_noop("The caller hung up before the call was answered."),
    gettext_noop("The control connection was lost."),
    gettext_noop("The transfer to %(number)s failed. %(reason)s"),
    gettext_noop("A colleague ended the call."),
    gettext_noop("The page was closed."),
    gettext_noop("The browser's network blocked the audio."),
    gettext_noop("The browser's connection was lost."),
    gettext_noop("The browser's audio never connected."),
    gettext_noop("The connection was lost too often."),
    gettext_noop("Twilio never connected the caller."),
    gettext_noop("The connection to the caller was lost."),
)
CALENDARS = (
    gettext_noop(
        "There is no calendar at this address (404). Copy the address of the calendar itself, not of its server."
    ),
    gettext_noop("There is no CalDAV at this address (405). Copy the address of the calendar itself."),
    gettext_noop("There is no calendar at this address."),
    gettext_noop("The calendar was removed (410)."),
    gettext_noop("The calendar’s server is limiting requests (429). Try again later."),
    gettext_noop("The calendar’s server redirects to another address. Connect that one."),
    gettext_noop("The calendar’s server responded with %(status)s."),
    gettext_noop("The calendar took too long to read."),
    gettext_noop("The calendar couldn’t be reached: %(reason)s"),
    gettext_noop("The calendar is no longer connected."),
    gettext_noop("Connect the calendar again. Its bookings are then written to it."),
    gettext_noop("The calendar’s password can’t be read. Connect it again."),
    gettext_noop("Replaced by a later change of the booking."),
)
SHOPS = (
    gettext_noop("The request was blocked before it reached the shop (403). Check its firewall and security plugins."),
    gettext_noop(
        "The shop has no REST API at this address (404). Check the address, and that WordPress’s permalinks aren’t set "
        "to Plain."
    ),
    gettext_noop("The shop is limiting requests (429). Try again later."),
    gettext_noop("The shop redirects to another address. Connect that one."),
    gettext_noop("The shop responded with %(status)s."),
    gettext_noop("The shop's response is not JSON. Check the address."),
    gettext_noop("The shop couldn't be reached: %(reason)s"),
    gettext_noop("The caller lookup responded with %(status)s."),
    gettext_noop("The caller lookup couldn't be reached: %(reason)s"),
)
ACTIONS = (
    gettext_noop("The action before it was not done."),
    gettext_noop("The agent has called the tool itself, and read its result."),
    gettext_noop("The response was empty."),
    gettext_noop("The response has no %(path)s."),
    gettext_noop("The tool %(tool)s was removed."),
    gettext_noop("The tool %(tool)s was switched off."),
    gettext_noop("The tool's secrets can't be read any more; save them again."),
    gettext_noop("This conversation has set off %(most)s of this kind within a day; that is the limit."),
    gettext_noop("%(most)s of this kind went to this recipient within a day; that is the limit."),
    gettext_noop("The reply it belonged to was never finished."),
    gettext_noop("The customer spoke again after the goodbye."),
    gettext_noop("It was taken on, and no result has come."),
    gettext_noop("%(name)s did it."),
    gettext_noop("%(name)s withdrew it."),
)
TODOS = (
    gettext_noop("Make good: %(quote)s"),
    gettext_noop("The agent has called %(tool)s"),
    gettext_noop("We don't know whether %(tools)s went through. Check, and confirm the outcome."),
    gettext_noop("%(tools)s was held back because it was already done."),
    gettext_noop("%(tool)s was not done: %(error)s"),
    gettext_noop("The agent used no tool, so nothing was done. It said: %(said)s"),
    gettext_noop("Nothing was done. %(tool)s was called, but not run: %(why)s"),
    gettext_noop(
        "Not sent: %(tools)s only reached the outbox, because no service is connected. Connect one under Integrations and "
        "review the todo again, or take it on and send it yourself."
    ),
    gettext_noop("Stopped after %(steps)s steps, the limit for a todo."),
    gettext_noop("The plan for %(tool)s has changed since it was decided. Review and approve it again."),
    gettext_noop("%(address)s is not an approved recipient. A colleague has to review it."),
    gettext_noop("The model's answer was cut, because it was too long."),
    gettext_noop("A colleague has checked it: it was not done."),
    gettext_noop("A colleague saw to it."),
    gettext_noop("A colleague saw to it. %(reason)s"),
    gettext_noop("A colleague decided against it."),
    gettext_noop("A colleague decided against it. %(reason)s"),
    gettext_noop("A colleague took it back."),
    gettext_noop("A colleague took it back. %(reason)s"),
    gettext_noop("Nobody approved it in time."),
    gettext_noop("It was tried, and failed."),
    gettext_noop("It was tried, and failed. %(reason)s"),
)
MODELS = (
    gettext_noop("The connection to the model endpoint was lost."),
    gettext_noop("The model endpoint's certificate can't be trusted."),
    gettext_noop("The model endpoint does not accept secure connections at this address."),
    gettext_noop("The model endpoint can't be reached: its host name can't be resolved."),
    gettext_noop("The model endpoint can't be reached: it refuses connections at its address and port."),
    gettext_noop("The model endpoint can't be reached: the connection timed out."),
    gettext_noop("The model endpoint can't be reached: there is no route to its address."),
    gettext_noop("The model endpoint can't be reached. %(reason)s"),
    gettext_noop("The model endpoint answered %(status)s: “%(message)s”."),
    gettext_noop("The model endpoint answered %(status)s."),
    gettext_noop("The model endpoint's base URL is not a valid URL."),
    gettext_noop("The model endpoint's base URL contains a user name or password. Use the API key instead."),
    gettext_noop("The API key contains a line break or an invalid character."),
    gettext_noop("The model refused to answer: %(reason)s"),
    gettext_noop("The provider's content filter stopped the answer."),
    gettext_noop("The endpoint's answer is empty."),
    gettext_noop("The model kept calling tools instead of answering."),
    gettext_noop("The answer is longer than the model may write."),
    gettext_noop("The worker that ran this died."),
    gettext_noop("The worker that ran this died %(times)s times in a row."),
    gettext_noop("The attempt exceeded its deadline."),
    gettext_noop("The connection to the database was lost."),
    gettext_noop("The database was unavailable, or its disk was full."),
    gettext_noop("An internal error occurred, not caused by your settings. See the server's log."),
)
FLAGS = (
    gettext_noop("Quality %(score)s of 10: %(reason)s"),
    gettext_noop("Claimed but not done: “%(words)s”"),
    gettext_noop("Reply failed: %(reason)s"),
    gettext_noop("The files of message %(seq)s are not attached. Run their job again, under Failures. %(reason)s"),
)
HOURS = (
    gettext_noop("open from %(opens)s to %(closes)s today"),
    gettext_noop("opens at %(time)s today"),
    gettext_noop("closed for today"),
    gettext_noop("%(day)s is a holiday"),
)
TOOLS = (
    gettext_noop("not part of the kind of business “%(title)s”"),
    gettext_noop("%(title)s is not connected"),
)
SENTENCES: Sequence[str] = (
    *ENDPOINTS,
    *MAIL,
    *TEXTS,
    *MESSENGERS,
    *MAILBOXES,
    *CALLS,
    *CALENDARS,
    *SHOPS,
    *ACTIONS,
    *TODOS,
    *MODELS,
    *FLAGS,
    *HOURS,
    *TOOLS,
)


def translated(stored: str) -> str:
    """A stored sentence in the reader's language if it is known, otherwise as it is stored."""
    if not stored or (get_language() or "en").startswith("en"):
        return stored
    if (words := gettext(stored)) != stored:
        return words
    for pattern, sentence in _patterns():
        if found := pattern.fullmatch(stored):
            return gettext(sentence) % {name: translated(part) for name, part in found.groupdict().items()}
    return stored


@cache
def _patterns() -> Sequence[tuple[re.Pattern[str], str]]:
    """Each sentence with placeholders as a pattern. The longest comes first, because it says the most."""
    return [
        (re.compile(_pattern_of(sentence), re.DOTALL), sentence)
        for sentence in sorted(SENTENCES, key=lambda one: -len(_GAP.sub("", one)))
        if "%(" in sentence
    ]


def _pattern_of(sentence: str) -> str:
    parts = _GAP.split(sentence)
    return "".join(f"(?P<{part}>.+?)" if number % 2 else re.escape(part) for number, part in enumerate(parts))
