// Editable lists: add, remove, move. Fields keep their names; the server reads them in form order.
import { fill, gettext, ngettext } from "../i18n.js";
const PLACES = [
  ["[name]", "name"],
  ["[id]", "id"],
  ["[for]", "for"],
  ["[aria-describedby]", "aria-describedby"],
];

export class Lists {
  constructor(form, { onChange }) {
    this.form = form;
    this.onChange = onChange;
    this.made = 0;
    form.addEventListener("click", (event) => this.clicked(event));
    form.addEventListener("input", (event) => this.typed(event));
    for (const list of form.querySelectorAll("[data-list]")) this.number(list);
  }

  clicked(event) {
    const button = event.target.closest("button");
    if (!button) return;
    const item = button.closest("[data-item]");
    if ("add" in button.dataset) this.add(button);
    else if ("remove" in button.dataset) this.remove(item);
    else if ("up" in button.dataset) this.move(item, item.previousElementSibling, "before", button);
    else if ("down" in button.dataset) this.move(item, item.nextElementSibling, "after", button);
  }

  /** Syncs a scenario's heading with its title. */
  typed(event) {
    if (!event.target.name?.endsWith(".title")) return;
    const heading = event.target.closest("[data-item]")?.querySelector("[data-title]");
    if (heading) heading.textContent = event.target.value || gettext("New scenario");
  }

  add(button) {
    const kind = button.dataset.add;
    const list = this.listFor(button, kind);
    const template = this.form.querySelector(`template[data-of="${kind}"]`);
    const item = template.content.firstElementChild.cloneNode(true);
    this.made += 1;
    const outer = button.closest("[data-index]")?.dataset.index ?? `n${this.made}`;
    rename(item, { __i__: outer, __j__: `n${this.made}`, __day__: list.dataset.day ?? "" });
    list.append(item);
    this.changed(list);
    item.querySelector("input:not([type=hidden]), textarea")?.focus();
    item.scrollIntoView({ block: "nearest" });
  }

  /** The list of an add button: in the same entry or day, else the page's only one. */
  listFor(button, kind) {
    const place = button.closest("[data-item], .ag-day") ?? this.form;
    return place.querySelector(`[data-list="${kind}"]`) ?? this.form.querySelector(`[data-list="${kind}"]`);
  }

  remove(item) {
    const list = item.parentElement;
    const next = item.nextElementSibling ?? item.previousElementSibling;
    item.remove();
    this.changed(list);
    const target = next?.querySelector("summary, input:not([type=hidden]), textarea");
    (target ?? this.form.querySelector(`[data-add="${list.dataset.list}"]`))?.focus();
  }

  move(item, other, side, button) {
    if (!other) return;
    other[side](item);
    this.changed(item.parentElement);
    button.focus();
    item.scrollIntoView({ block: "nearest" });
  }

  changed(list) {
    this.number(list);
    this.onChange();
  }

  number(list) {
    const items = [...list.children].filter((child) => "item" in child.dataset);
    items.forEach((item, at) => {
      const number = item.querySelector("[data-number]");
      if (number) number.textContent = String(at + 1);
    });
    const count = list.closest("[data-item]")?.querySelector("[data-count]");
    if (count)
      count.textContent = fill(ngettext("%(number)s step", "%(number)s steps", items.length), { number: items.length });
  }
}

function rename(item, marks) {
  const replaced = (text) =>
    Object.entries(marks).reduce((result, [mark, value]) => result.replaceAll(mark, value), text);
  if (item.dataset.index) item.dataset.index = replaced(item.dataset.index);
  for (const [selector, attribute] of PLACES)
    for (const element of item.querySelectorAll(selector))
      element.setAttribute(attribute, replaced(element.getAttribute(attribute)));
  for (const element of item.querySelectorAll("[data-index]"))
    element.dataset.index = replaced(element.dataset.index);
}
