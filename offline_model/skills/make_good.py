"""Make-good skill: an apology for a broken promise, and the next step for a colleague."""

from __future__ import annotations

import re
from typing import Any

from offline_model import prompt_reader
from offline_model.language import language_of
from offline_model.phrases import make_good_in
from offline_model.prompt_reader import section
from offline_model.wire import ChatCall

TOLD_LANGUAGE = re.compile(r"the language with the code ([a-z]{2})\b")


def make_good(call: ChatCall) -> dict[str, Any]:
    """The draft, in the shape of the skill's output."""
    user = call.last_user
    # It is quoted within a sentence, which has a full stop of its own.
    promise = section(user, "Promise").strip().removesuffix(".")
    known = TOLD_LANGUAGE.search(call.system)
    lines = prompt_reader.transcript(section(user, "Conversation"))
    said = " ".join(line.content for line in lines if line.role == "customer")
    language = known[1] if known else language_of(said) or "en"
    correction, step = make_good_in(language)
    return {"correction": correction.format(promise=promise), "next_step": step.format(promise=promise)}
