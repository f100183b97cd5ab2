"""A customer with rows in every table, marked in every column that holds personal data."""

from __future__ import annotations

from typing import Any

from django.db import models

from conversations.models import Conversation, Persona, PersonaField, StoredObject
from privacy.models import Erasure, OrganizationDeletion
from privacy.registry import BY_MODEL
from projects.models import AuditAction, AuditEntry, Organization, Project, User
from tests.bypass_rls import bypass_rls
from tests.conftest import PASSWORD, Tenant
from tests.tenancy.rows import Rows, _parents, _value, parent_of, tenant_models
from tools.models import OperatorLimit, Promise, PromiseState

# An e-mail address, because rows without a link are found by it.
MARK = "ada.k7q@people.example"
# Erasure and deletion are what is tested, a stored object ends with its object, and the product may only read the operator's
# limits.
NOT_FILLED = {Erasure, OrganizationDeletion, OperatorLimit, StoredObject}


def fill_for_customer(tenant: Tenant) -> Rows:
    """Create a row of every tenant model that belongs to one customer, as far as it belongs to any."""
    made: Rows = {Organization: tenant.organization, Project: tenant.project}
    made[User] = User.objects.create_user("member@staff.example", PASSWORD)
    with tenant.tx():
        wanted = [model for model in tenant_models() if model not in NOT_FILLED]
        while missing := [model for model in wanted if model not in made]:
            ready = [model for model in missing if _parents(model) <= made.keys()]
            assert ready, f"These models need each other first: {missing}"
            for model in ready:
                made[model] = _make(model, made)
        _know_address(made[Persona])
    _link_all(made)
    return made


def _make(model: type[models.Model], made: Rows) -> models.Model:
    customer = BY_MODEL[model].customer
    values = {
        field.name: _value(field, made, MARK if field.column in customer else "neutral")
        for field in model._meta.fields
        if not field.primary_key
    }
    if model is AuditEntry:
        values["action"] = AuditAction.CUSTOMERS_MERGED
    if model is Promise:
        values.update(state=PromiseState.WITHDRAWN, owner="")
    row: models.Model = model._default_manager.create(**values)
    return row


def _link_all(made: Rows) -> None:
    """Set the references that could not be set before, because their rows were made later."""
    bypass_rls("update jobs_job set subject_id = %s", made[Conversation].pk)
    for model, row in made.items():
        if model in (User, Organization, Project, Persona):
            continue
        for field in model._meta.fields:
            parent = parent_of(field)
            if parent in made and parent is not model and field.null and getattr(row, field.attname) is None:
                table, column = model._meta.db_table, field.column
                bypass_rls(f"update {table} set {column} = %s where id = %s", made[parent].pk, row.pk)


def _know_address(persona: models.Model) -> None:
    PersonaField.objects.create(persona=persona, key="email", value=MARK, strength=3)


def mentions(text: str) -> dict[str, int]:
    """The tables whose rows contain a text, with the number of rows."""
    names = [name for (name,) in bypass_rls("select tablename::text from pg_tables where schemaname = 'public'")]
    pattern, as_bytes = f"%{text.lower()}%", f"%{text.encode().hex()}%"
    found: dict[str, Any] = {}
    for name in names:
        sql = f"select count(*) from {name} t where lower(t::text) like %s or t::text like %s"
        [(count,)] = bypass_rls(sql, pattern, as_bytes)
        if count:
            found[name] = count
    return found
