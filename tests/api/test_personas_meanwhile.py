"""Two programs that write one customer's fields at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from conversations.models import Persona, PersonaField
from conversations.turns.services import give_fields
from tests.conftest import Tenant
from tests.conversations.threads import in_thread, until_waiting


def test_fields_are_written_in_one_order_by_everybody(tenant: Tenant) -> None:
    """Two that name the same fields in another order wait for each other, and not in a circle."""
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
