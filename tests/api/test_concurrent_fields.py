"""Two clients that write one customer's fields at the same time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from conversations.models import Persona, PersonaField
from conversations.turns.services import give_fields
from tests.conftest import Tenant
from tests.conversations.threads import in_thread, until_waiting


def test_concurrent_writers_of_the_same_fields_do_not_deadlock(tenant: Tenant) -> None:
    """They name the fields in different orders; both are written in one."""
    with tenant.tx():
        persona = Persona.objects.create(project=tenant.project, external_id="ada")
        give_fields(persona, {"colour": "", "size": ""})

    def give(*keys: str) -> None:
        with tenant.tx():
            give_fields(persona, dict.fromkeys(keys, "known"))

    with ThreadPoolExecutor(2) as pool:
        with tenant.tx():
            PersonaField.objects.select_for_update().get(key="size")
            backwards = in_thread(pool, lambda: give("size", "colour"))
            until_waiting(1)
            forwards = in_thread(pool, lambda: give("colour", "size"))
            until_waiting(2)
        backwards.result()
        forwards.result()
