"""The attributes page: project values override organization values."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from projects.agents.attribute_changes import AttributeEdit, change_attributes
from projects.models import Attribute, Project
from projects.models.agent_errors import SettingsRefused
from projects.models.attribute import AttributeType
from projects.models.attribute_catalogue import KNOWN_SETTINGS, SETTING, VALUE_LABELS
from projects.records.attributes import (
    ENUMS,
    GATES,
    Origin,
    WrongValue,
    attributes_column,
    fill_row,
    read_column,
    read_secret,
    resolve_attributes,
    set_attribute,
)
from tests.concurrent import meanwhile
from tests.conftest import Tenant
from tests.console.agent.conftest import Settings
from tests.conversations.threads import in_thread
from tools.engine.business_state import read_state
from tools.engine.catalogue import is_called_by_model
from tools.engine.registry import builtin_tools

SMS = f"{SETTING}sms_send_information_enabled"


def row_of(form: dict[str, str], key: str) -> str:
    return next(name.removesuffix(".key") for name, value in form.items() if name.endswith(".key") and value == key)


def value_of(tenant: Tenant, key: str) -> object:
    with tenant.tx():
        found = resolve_attributes(tenant.project).get(key)
    return found and found.value


def without(form: dict[str, str], name: str) -> dict[str, str]:
    return {field: value for field, value in form.items() if field != name}


def test_posting_an_unchanged_form_changes_nothing(owner: Settings) -> None:
    with owner.tenant.tx():
        before = list(Attribute.objects.values_list("pk", "value", "updated_at"))
    owner.change("attributes")
    with owner.tenant.tx():
        assert list(Attribute.objects.values_list("pk", "value", "updated_at")) == before


@pytest.mark.parametrize("written", ["True", "true", "1", True])
def test_switches_accept_every_spelling_of_a_boolean(tenant: Tenant, written: object) -> None:
    with tenant.tx():
        Attribute.objects.filter(key=SMS).delete()
        set_attribute(tenant.project, SMS, written)
    assert value_of(tenant, SMS) is True


def test_a_switch_turns_its_tool_off(owner: Settings) -> None:
    form = owner.form("attributes")
    owner.save(without(form, f"{row_of(form, SMS)}.value"), "attributes")
    assert value_of(owner.tenant, SMS) is False
    assert "send_sms_tool is off" in owner.page("scenarios")


def test_project_values_override_organization_values(tenant: Tenant) -> None:
    """Also for secrets, and in what a turn loads with its project."""
    with tenant.tx():
        set_attribute(tenant.project, "house_rule", "ours")
        set_attribute(tenant.project, "token", "our-token", type=AttributeType.SECRET)
        for key, value, kind in (
            ("house_rule", "everybody's", AttributeType.STRING),
            ("token", "everybody's", AttributeType.SECRET),
        ):
            row = Attribute(project=None, key=key, type=kind)
            fill_row(row, value)
            row.save()
        column = Project.objects.annotate(found=attributes_column()).get(pk=tenant.project.pk).found
        for found in (resolve_attributes(tenant.project), read_column(column)):
            assert (found["house_rule"].value, found["house_rule"].origin) == ("ours", Origin.PROJECT)
        assert read_secret(tenant.project, "token") == "our-token"


def test_an_omitted_type_keeps_the_current_one(tenant: Tenant) -> None:
    """A new value of a secret stays a secret, even if only the organization has one."""
    with tenant.tx():
        row = Attribute(project=None, key="everybody's", type=AttributeType.SECRET)
        fill_row(row, "the-first")
        row.save()
        set_attribute(tenant.project, "token", "the-first", type=AttributeType.SECRET)
        for key in ("token", "everybody's"):
            written = set_attribute(tenant.project, key, "the-second")
            assert (written.type, written.value) == (AttributeType.SECRET, None)
            assert read_secret(tenant.project, key) == "the-second"


@pytest.mark.parametrize("kind", [AttributeType.STRING, AttributeType.SECRET])
def test_text_values_stay_text(tenant: Tenant, kind: AttributeType) -> None:
    with tenant.tx(), pytest.raises(WrongValue, match="count must be text, not a number"):
        set_attribute(tenant.project, "count", 5, type=kind)


def test_turning_a_secret_into_text_deletes_the_secret(tenant: Tenant) -> None:
    with tenant.tx():
        set_attribute(tenant.project, "token", "canary", type=AttributeType.SECRET)
        set_attribute(tenant.project, "token", "for everyone", type=AttributeType.STRING)
        row = Attribute.objects.get(key="token")
        assert (row.value, row.secret, read_secret(tenant.project, "token")) == ("for everyone", "", None)


def test_unsetting_a_project_value_restores_the_organizations(owner: Settings) -> None:
    """The page shows where the value comes from."""
    with owner.tenant.tx():
        Attribute.objects.create(project=None, key="greeting", type=AttributeType.STRING, value="Ciao")
        set_attribute(owner.tenant.project, "greeting", "Salve")
    owner.change("attributes", unset="greeting")
    with owner.tenant.tx():
        found = resolve_attributes(owner.tenant.project)["greeting"]
    assert (found.value, found.origin) == ("Ciao", Origin.ORGANIZATION)
    # A handcrafted form with an invalid key.
    owner.change("attributes", unset="a\0b")


def test_a_new_secret_is_stored_and_never_shown(owner: Settings) -> None:
    owner.change("attributes", new__key="crm_token", new__type="secret", new__value="s3cret-canary")
    with owner.tenant.tx():
        assert read_secret(owner.tenant.project, "crm_token") == "s3cret-canary"
    assert "s3cret-canary" not in owner.page("attributes")


def test_an_empty_secret_field_keeps_the_secret(owner: Settings) -> None:
    owner.change("attributes", new__key="crm_token", new__type="secret", new__value="s3cret-canary")
    owner.change("attributes")
    with owner.tenant.tx():
        assert read_secret(owner.tenant.project, "crm_token") == "s3cret-canary"


@pytest.mark.parametrize(
    ("key", "kind", "value", "sentence"),
    [
        ("1st", "str", "x", "Start with a letter"),
        ("model_api_key", "str", "x", "Set it under Models"),
        ("empty", "secret", "", "Enter a value"),
        ("menu", "json", "{", "This isn’t valid JSON."),
        ("flag", "bool", "perhaps", "must be True or False"),
        ("text", "str", "a\x00b", "control character"),
        ("text", "str", "x" * 10_001, "Use at most 10,000 characters. This has 10,001."),
        (SMS, "bool", "True", "An attribute with this name already exists"),
    ],
)
def test_an_invalid_new_attribute_is_refused(key: str, kind: str, value: str, sentence: str, owner: Settings) -> None:
    before = value_of(owner.tenant, key)
    response = owner.change("attributes", new__key=key, new__type=kind, new__value=value)
    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert value_of(owner.tenant, key) == before


def test_a_concurrent_change_is_not_overwritten_silently(owner: Settings) -> None:
    with owner.tenant.tx():
        set_attribute(owner.tenant.project, "greeting", "Ciao")
    form = owner.form("attributes")
    with owner.tenant.tx():
        set_attribute(owner.tenant.project, "greeting", "Salve")
    name = f"{row_of(form, 'greeting')}.value"
    response = owner.save({**form, name: "Buonasera"}, "attributes")
    assert "Someone else set this to “Salve”" in response.content.decode()
    assert value_of(owner.tenant, "greeting") == "Salve"


def test_simultaneous_saves_conflict(tenant: Tenant) -> None:
    """The later save waits for the earlier one, then sees its value."""

    def change(text: str) -> None:
        with tenant.tx():
            change_attributes(tenant.project, [AttributeEdit("greeting", AttributeType.STRING, text, was="Ciao")])

    with tenant.tx():
        set_attribute(tenant.project, "greeting", "Ciao")
    with meanwhile("projects_attribute", lambda: change("Salve")) as other:
        change("Buonasera")
    with pytest.raises(SettingsRefused) as refused:
        other[0].result()
    assert "Someone else set this to “Buonasera”" in refused.value.errors["greeting"]
    assert value_of(tenant, "greeting") == "Buonasera"


def test_equal_concurrent_values_do_not_conflict(owner: Settings) -> None:
    with owner.tenant.tx():
        set_attribute(owner.tenant.project, "greeting", "Ciao")
    form = owner.form("attributes")
    with owner.tenant.tx():
        set_attribute(owner.tenant.project, "greeting", "Salve")
    assert owner.save({**form, f"{row_of(form, 'greeting')}.value": "Salve"}, "attributes").status_code == 302


def test_an_invalid_choice_is_refused_with_the_valid_ones(tenant: Tenant) -> None:
    key = f"{GATES}booking_cancellation_type"
    with tenant.tx(), pytest.raises(WrongValue, match="must be one of endpoint, project, manual, not 'never'"):
        set_attribute(tenant.project, key, "never")


def test_every_choice_has_a_name() -> None:
    assert {value for values in ENUMS.values() for value in values} <= VALUE_LABELS.keys()


def test_a_concurrently_added_attribute_is_not_overwritten(owner: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    form = owner.form("attributes")

    def add() -> None:
        with owner.tenant.tx():
            set_attribute(owner.tenant.project, "greeting", "Salve")

    def changed_after_another(project: Project, edits: list[AttributeEdit]) -> list[str]:
        with ThreadPoolExecutor(1) as pool:
            in_thread(pool, add).result()
        return change_attributes(project, edits)

    monkeypatch.setattr("console.agent.attributes.change_attributes", changed_after_another)
    answer = owner.save(form, "attributes", new__key="greeting", new__type="str", new__value="Ciao")
    assert "An attribute with this name already exists" in answer.content.decode()
    assert value_of(owner.tenant, "greeting") == "Salve"


def test_every_switch_enables_the_tools_it_names(tenant: Tenant) -> None:
    """The page's tool names match the tools' own requirements."""
    named = {tool: setting.key for setting in KNOWN_SETTINGS for tool in setting.tools}
    with tenant.tx():
        for setting in KNOWN_SETTINGS:
            if setting.type is AttributeType.BOOL:
                set_attribute(tenant.project, setting.key, False, type=AttributeType.BOOL)
        state = read_state(tenant.project, channel="phone")
        reasons = {name: tool.gate(state) for name, tool in builtin_tools().items() if not is_called_by_model(tool)}
    assert {name for name, reason in reasons.items() if reason} == set(named)
    assert all(any(s.key in reasons[tool] for s in KNOWN_SETTINGS if tool in s.tools) for tool in named)
