"""The fields of the console's forms. A builtin library of its templates: `{% text_input box=form.title label=_("Title") %}`.

A `box` has the `id`, `name`, `value` and `error` of its control. Below the control stand what is wrong with the value, and a
hint. A page of scenarios has a hundred fields: they are strings put together here, with every value escaped once, because an
included template takes many times as long.
"""

from __future__ import annotations

from html import escape
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from console.templatetags.icons import icon

register = template.Library()

ERROR = '<p class="form-err" id="{}-error">{}<span>{}</span></p>'
WARNING = '<p class="form-err ag-off" data-s="warn" id="{}-too-large">{}<span>{}</span></p>'


@register.simple_tag
def text_input(
    box: Any,
    label: str,
    hint: str = "",
    placeholder: str = "",
    css: str = "",
    is_code: bool = False,
    is_number: bool = False,
    has_focus: bool = False,
    suggests: str = "",
) -> SafeString:
    """A line of text. `suggests` is the id of a list of values, of which it takes several."""
    control = _attributes(
        ("class", "form-control ag-mono" if is_code else "form-control"),
        ("id", box.id),
        ("name", box.name),
        ("value", str(box.value)),
        ("autocomplete", "off"),
        ("list", suggests),
        ("data-suggest", suggests),
        ("placeholder", placeholder),
        ("inputmode", "numeric" if is_number else ""),
        ("autofocus", "autofocus" if has_focus else ""),
        *_state(box, hint),
    )
    return _field(box, label, f"<input{control}>", css=css, error=field_error(box.id, box.error), hint=hint)


@register.simple_tag
def text_area(
    box: Any,
    label: str,
    rows: int = 2,
    hint: str = "",
    placeholder: str = "",
    css: str = "",
    hides_label: bool = False,
    has_focus: bool = False,
    too_large: str = "",
) -> SafeString:
    """Several lines of text. `too_large` warns of a text that costs much in each prompt."""
    control = _attributes(
        ("class", "form-control"),
        ("id", box.id),
        ("name", box.name),
        ("rows", rows),
        ("placeholder", placeholder),
        ("autofocus", "autofocus" if has_focus else ""),
        *_state(box, hint, too_large),
    )
    shown = f"<textarea{control}>\n{escape(str(box.value))}</textarea>"
    error = field_error(box.id, box.error) or too_large_warning(box.id, too_large)
    return _field(box, label, shown, css=css, hides_label=hides_label, error=error, hint=hint)


@register.simple_tag
def field_error(field: str, sentence: str) -> SafeString:
    """The error of the field with this id; empty if its value is right."""
    return format_html(ERROR, field, icon("alert-circle"), sentence) if sentence else SafeString()


@register.simple_tag
def too_large_warning(field: str, sentence: str) -> SafeString:
    """The sentence that the field's text costs much in each prompt; empty without one."""
    return format_html(WARNING, field, icon("alert-triangle"), sentence) if sentence else SafeString()


def _field(
    box: Any, label: str, control: str, *, css: str, error: SafeString, hint: str, hides_label: bool = False
) -> SafeString:
    """The label, the control and what stands below it. `control` is HTML."""
    around = _attributes(("class", css))
    name = _attributes(("class", "form-label visually-hidden" if hides_label else "form-label"), ("for", box.id))
    below = f'<p class="form-hint" id="{escape(box.id)}-hint">{escape(str(hint))}</p>' if hint else ""
    return SafeString(f"<div{around}><label{name}>{escape(str(label))}</label>{control}{error}{below}</div>")


def _state(box: Any, hint: str, too_large: str = "") -> list[tuple[str, str]]:
    """The attributes that lead from the control to the sentence below it that matters most."""
    if box.error:
        return [("aria-invalid", "true"), ("aria-describedby", f"{box.id}-error")]
    below = "-too-large" if too_large else "-hint" if hint else ""
    return [("aria-describedby", f"{box.id}{below}")] if below else []


def _attributes(*pairs: tuple[str, object]) -> str:
    """The attributes that have a value."""
    return "".join(f' {name}="{escape(str(value))}"' for name, value in pairs if value)
