"""The key of a project's own model endpoint: written, never read back, and sent to no address but its own."""

from __future__ import annotations

from urllib.parse import urlsplit

from projects.agents.model_choice import KEY_ATTRIBUTE, UNREADABLE_KEY
from projects.agents.services import latest_agent_version
from projects.common.api_error import Conflict
from projects.common.crypto import WrongSecret
from projects.models import Project
from projects.models.agent_errors import SettingsRefused
from projects.models.attribute import AttributeType
from projects.records.attributes import read_secret, resolve_attributes, set_attribute, unset_attribute

LONGEST_KEY = 500
WRITE_ANEW = "Load the page again, and write the key of what stands there."


def has_stored_key(project: Project) -> bool:
    """Whether the project or its organization has a key stored."""
    found = resolve_attributes(project).get(KEY_ATTRIBUTE)
    return found is not None and found.type is AttributeType.SECRET


def is_key_lost(project: Project) -> bool:
    """Whether a key is stored that can't be read any more, and has to be written again."""
    try:
        read_secret(project, KEY_ATTRIBUTE)
    except WrongSecret:
        return True
    return False


def change_key(project: Project, *, key: str, is_removed: bool, old_url: str, new_url: str, typed_url: str) -> None:
    """Store a new key or remove the project's own. Raises SettingsRefused where a key would go to a new address, or to another
    than the one that it was `typed` beside, because somebody has saved that meanwhile.

    Otherwise whoever may change the address could have a key sent to a server of their own, and so read it. To be called in the
    transaction that has changed the address: no key is stored between the two.
    """
    if key:
        _check(key)
        if not is_same_server(typed_url, new_url):
            raise SettingsRefused(
                {"model_api_key": f"The address is {new_url or 'the default'} meanwhile. {WRITE_ANEW}"}
            )
        set_attribute(project, KEY_ATTRIBUTE, key, type=AttributeType.SECRET)
        return
    if is_removed:
        _remove(project, url=new_url)
    if new_url and not is_same_server(old_url, new_url) and has_stored_key(project):
        raise SettingsRefused({"model_api_key": "The stored key is for another address. Write this one's key."})


def remove_attribute(project: Project, key: str) -> bool:
    """Remove the project's own value of any attribute. False when it had none. Raises ApiError for a model's key in whose place
    the organization's would be sent to the project's address.
    """
    if key != KEY_ATTRIBUTE:
        return unset_attribute(project, key)
    try:
        return _remove(project, url=latest_agent_version(project).document.get("model_base_url", ""))
    except SettingsRefused as error:
        raise Conflict(error.errors["model_api_key"]) from error


def _remove(project: Project, *, url: str) -> bool:
    if not unset_attribute(project, KEY_ATTRIBUTE):
        return False
    if url and has_stored_key(project):
        raise SettingsRefused(
            {"model_api_key": "Your organization has a key too, for another address. Empty this one first."}
        )
    return True


def key_for_test(project: Project, *, typed: str, url: str, saved_url: str) -> str:
    """The key to test an address with: the one just typed, else the stored one, for its own server only. Raises SettingsRefused."""
    if typed:
        _check(typed)
        return typed
    if not is_same_server(url, saved_url):
        if has_stored_key(project):
            raise SettingsRefused({"model_api_key": "The stored key is for another address. Write this one's key."})
        return ""
    try:
        return read_secret(project, KEY_ATTRIBUTE) or ""
    except WrongSecret as error:
        raise SettingsRefused({"model_api_key": UNREADABLE_KEY}) from error


def is_same_server(one: str, other: str) -> bool:
    """Whether two base URLs are at the same scheme, host and port."""
    first, second = urlsplit(one), urlsplit(other)
    return (first.scheme, first.netloc.lower()) == (second.scheme, second.netloc.lower())


def _check(key: str) -> None:
    if len(key) > LONGEST_KEY or not (key.isascii() and key.isprintable()) or " " in key:
        raise SettingsRefused(
            {"model_api_key": f"A key has at most {LONGEST_KEY} letters, digits and signs, and no space or line break."}
        )
