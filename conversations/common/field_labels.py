"""Names and values of what is known about customers, as people read them."""

from __future__ import annotations

from django.conf.locale import LANG_INFO
from django.utils.translation import get_language_info

from projects.common.phones import readable_phone
from projects.common.translation import lazy
from tools.engine.tool_words import ARGUMENT_WORDS

LABELS = {
    "name": lazy("Name"),
    "phone": lazy("Phone"),
    "email": lazy("E-mail"),
    "language": lazy("Language"),
    "sms_opt_in": lazy("Texts"),
    "email_opt_in": lazy("E-mails"),
    "call_opt_in": lazy("Calls"),
    "recording_opt_in": lazy("Recordings"),
}
ANSWERS = {"true": lazy("Opted in"), "false": lazy("Opted out")}


def field_label(key: str) -> str:
    """The name of a field for people, such as "Party size". Fields of the business's own are named after their keys."""
    known = LABELS.get(key) or ARGUMENT_WORDS.get(key)
    return str(known or key.replace("_", " ").replace(".", " ").capitalize())


def field_value(key: str, value: str) -> str:
    """The value of a field for display: a consent and a language in words, a number with spaces."""
    if key.endswith("_opt_in"):
        return ANSWERS.get(value, value)
    if key == "phone":
        return readable_phone(value)
    if key == "language":
        return language_name(value)
    return value


def language_name(code: str) -> str:
    """The name of a language in the reader's own, or the code if Django doesn't know it."""
    return str(get_language_info(code)["name_translated"]) if code in LANG_INFO else code
