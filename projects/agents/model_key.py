"""The API key of a project's own model endpoint: write-only, and sent to no other server."""

from __future__ import annotations

from django.utils.translation import gettext

from outbound.origin import is_same_server
from projects.agents.model_choice import DRAFT_KEY_ATTRIBUTE, KEY_ATTRIBUTE, UNREADABLE_KEY, key_attribute
from projects.common.crypto import WrongSecret
from projects.common.translation import lazy
from projects.models import Project
from projects.models.agent_errors import SettingsRefused
from projects.models.attribute import AttributeType
from projects.records.attributes import Origin, read_secret, resolve_attributes, set_attribute, unset_attribute

LONGEST_KEY = 500
OTHER_SERVER = lazy("The stored key is for another address. Enter the key for this one.")
NO_SERVER = lazy("Enter the URL of the server that this key is for, such as https://api.openai.com/v1.")
RELOAD_HINT = lazy("Reload the page and enter the key for that address.")


def has_stored_key(project: Project, *, attribute: str = KEY_ATTRIBUTE) -> bool:
    """True if the project has a key of its own. Its organization's key is never sent to a project's address."""
    found = resolve_attributes(project).get(attribute)
    return found is not None and found.type is AttributeType.SECRET and found.origin is Origin.PROJECT


def is_key_lost(project: Project, *, attribute: str) -> bool:
    """True if a key is stored but can't be decrypted, and must be entered again."""
    try:
        read_secret(project, attribute)
    except WrongSecret:
        return True
    return False


def change_key(project: Project, *, key: str, is_removed: bool, old_url: str, new_url: str, typed_url: str) -> None:
    """Store a new key, or remove the project's own one. A key for another server than the published one waits for the
    draft's publication.

    Raises SettingsRefused if a key would go to a server other than the one it was entered for, including when someone
    else changed the address in the meantime (`typed_url` is the address shown beside the key). Otherwise anyone who may
    change the address could read a key by pointing it at their own server. Call it in the transaction that changes the
    address, so that no key is stored in between.
    """
    attribute = key_attribute(project, new_url)
    if key:
        _check(key)
        if not new_url and not typed_url:
            raise SettingsRefused({"model_base_url": NO_SERVER})
        if not is_same_server(typed_url, new_url):
            raise SettingsRefused(
                {
                    "model_api_key": gettext("Someone changed the address to %(value)s. %(reload_hint)s")
                    % {"value": new_url or "the default", "reload_hint": RELOAD_HINT}
                }
            )
        set_attribute(project, attribute, key, type=AttributeType.SECRET)
        return
    if is_removed:
        unset_attribute(project, attribute)
    elif _moves_a_key(project, old_url=old_url, new_url=new_url):
        raise SettingsRefused({"model_api_key": OTHER_SERVER})
    elif attribute == KEY_ATTRIBUTE or not new_url:
        unset_attribute(project, DRAFT_KEY_ATTRIBUTE)


def publish_key(project: Project, *, old_url: str, new_url: str) -> None:
    """Replace the key by the draft's if the draft's model is on another server. Call it in the transaction that
    publishes. Raises SettingsRefused for a key that can't be decrypted.
    """
    if new_url and not is_same_server(old_url, new_url):
        try:
            key = read_secret(project, DRAFT_KEY_ATTRIBUTE)
        except WrongSecret as error:
            raise SettingsRefused({"model_api_key": UNREADABLE_KEY}) from error
        if key:
            set_attribute(project, KEY_ATTRIBUTE, key, type=AttributeType.SECRET)
        else:
            unset_attribute(project, KEY_ATTRIBUTE)
    unset_attribute(project, DRAFT_KEY_ATTRIBUTE)


def key_for_test(project: Project, *, typed: str, url: str, saved_url: str) -> str:
    """The key for a test call: the entered one, or the stored one for its own server only. Raises SettingsRefused."""
    if typed:
        _check(typed)
        return typed
    if not is_same_server(url, saved_url):
        if has_stored_key(project, attribute=key_attribute(project, saved_url)):
            raise SettingsRefused({"model_api_key": OTHER_SERVER})
        return ""
    try:
        return read_secret(project, key_attribute(project, saved_url)) or ""
    except WrongSecret as error:
        raise SettingsRefused({"model_api_key": UNREADABLE_KEY}) from error


def _moves_a_key(project: Project, *, old_url: str, new_url: str) -> bool:
    """True if the address changes to another server than that of the key stored for it, without a key for the new one."""
    attribute = key_attribute(project, new_url)
    if not new_url or attribute == KEY_ATTRIBUTE or is_same_server(old_url, new_url):
        return False
    return has_stored_key(project, attribute=key_attribute(project, old_url))


def _check(key: str) -> None:
    if len(key) > LONGEST_KEY or not (key.isascii() and key.isprintable()) or " " in key:
        raise SettingsRefused(
            {
                "model_api_key": gettext("Use at most %(longest_key)s ASCII characters, without spaces or line breaks.")
                % {"longest_key": LONGEST_KEY}
            }
        )
