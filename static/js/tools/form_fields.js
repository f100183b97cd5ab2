// Form fields bound to paths of a JSON document, with validation messages.
import { h, icon } from "../dom.js";

const sameKind = (value, like) => (typeof like === "number" || like === null ? Number(value) : value);

export class Fields {
  constructor({ definition, canEdit, onChange }) {
    this.definition = definition;
    this.canEdit = canEdit;
    this.changed = onChange;
    this.slots = [];
    this.count = 0;
  }

  /** The value at a path, or undefined. */
  at(path) {
    return path.reduce((value, name) => value?.[name], this.definition);
  }

  /** Sets the value at a path, creating parent objects; undefined removes it. */
  put(path, value) {
    const parent = path.slice(0, -1).reduce((object, name) => (object[name] ??= {}), this.definition);
    if (value === undefined) delete parent[path.at(-1)];
    else parent[path.at(-1)] = value;
  }

  /** An empty text removes the field, or everything under `clear`. */
  write(path, text, { clear, number } = {}) {
    if (text === "") this.put(clear ?? path, undefined);
    else this.put(path, number ? sameKind(text, 0) : text);
    this.changed(false);
  }

  input(label, path, options = {}) {
    const { placeholder, hint, clear, mono, type = "text", ...more } = options;
    const number = type === "number";
    return this.labelled(label, path, { hint }, (attributes) =>
      h("input", {
        ...attributes,
        ...more,
        type,
        class: mono ? "form-control tl-mono" : "form-control",
        value: text(this.at(path)),
        placeholder,
        readonly: !this.canEdit,
        autocomplete: "off",
        oninput: (event) => this.write(path, event.target.value, { clear, number }),
      }),
    );
  }

  area(label, path, { rows = 2, hint, placeholder } = {}) {
    return this.labelled(label, path, { hint }, (attributes) =>
      this.textarea(path, { ...attributes, rows, placeholder }),
    );
  }

  textarea(path, attributes) {
    const element = h("textarea", {
      ...attributes,
      class: "form-control",
      readonly: !this.canEdit,
      oninput: (event) => (this.put(path, event.target.value), this.changed(false)),
    });
    element.value = text(this.at(path));
    return element;
  }

  /** `choices` are [value, label]. */
  select(label, path, choices, { standing = this.at(path), change, again = false, hint } = {}) {
    const choose = (event) => {
      const [value] = choices[event.target.selectedIndex];
      if (change) change(value);
      else this.put(path, value);
      this.changed(again);
    };
    return this.labelled(label, path, { hint }, (attributes) =>
      h(
        "select",
        { ...attributes, class: "form-select", disabled: !this.canEdit, onchange: choose },
        choices.map(([value, words]) => h("option", { selected: value === standing }, words)),
      ),
    );
  }

  /** A checkbox with a hint below it. `path` is where its problems are shown; `write(isOn)` is called on change. */
  box(label, path, { hint, checked, write }) {
    const id = this.id();
    return h(
      "div",
      {},
      h(
        "label",
        { class: "form-check", for: id },
        h("input", {
          id,
          type: "checkbox",
          class: "form-check-input",
          "data-path": path,
          "aria-describedby": hint ? `${id}-h` : null,
          checked,
          disabled: !this.canEdit,
          onchange: (event) => write(event.target.checked),
        }),
        h("span", { class: "form-check-label" }, label),
      ),
      hint ? h("p", { class: "form-hint", id: `${id}-h` }, hint) : null,
    );
  }

  /** A checkbox that writes the value `on`, and nothing when it is cleared. */
  check(label, path, { hint, on = true } = {}) {
    const write = (isOn) => (this.put(path, isOn ? on : undefined), this.changed(false));
    const box = this.box(label, path.join("."), { hint, checked: this.at(path) === on, write });
    box.append(this.slot(path.join(".")));
    return box;
  }

  /** An input without a visible label, applied on change. */
  bare(placeholder, path, { value, label, commit, mono }) {
    return h("input", {
      class: mono ? "form-control tl-mono" : "form-control",
      value,
      placeholder,
      "aria-label": label,
      "data-path": path.join("."),
      readonly: !this.canEdit,
      autocomplete: "off",
      spellcheck: "false",
      onchange: (event) => commit(event.target.value.trim()),
    });
  }

  bareArea(label, path, { placeholder } = {}) {
    return this.textarea(path, { rows: 1, placeholder, "aria-label": label, "data-path": path.join(".") });
  }

  labelled(label, path, { hint }, control) {
    const id = this.id();
    const key = path.join(".");
    return h(
      "div",
      {},
      h("label", { class: "form-label", for: id }, label),
      control({ id, "data-path": key, "aria-describedby": `${id}-e` }),
      this.slot(key, `${id}-e`),
      hint && h("p", { class: "form-hint" }, hint),
    );
  }

  id() {
    this.count += 1;
    return `field-${this.count}`;
  }

  /** The element for problems at a path or below it. */
  slot(path, id = null) {
    const element = h("div", { id, class: "tl-errors" });
    this.slots.push({ path, element });
    return element;
  }

  show(problems) {
    for (const { element } of this.slots) element.replaceChildren();
    for (const control of document.querySelectorAll("#form [aria-invalid]")) control.removeAttribute("aria-invalid");
    return problems.filter((problem) => !this.place(problem));
  }

  place(problem) {
    const fits = this.slots.filter(({ path }) => problem.path === path || problem.path.startsWith(`${path}.`));
    const slot = fits.sort((a, b) => b.path.length - a.path.length)[0];
    if (!slot) return false;
    slot.element.append(
      h("p", { class: "form-err", "data-s": problem.tone }, icon("alert-circle"), h("span", {}, inWords(problem))),
    );
    if (problem.tone === "bad") controlOf(problem.path)?.setAttribute("aria-invalid", "true");
    return true;
  }
}

/** A problem's sentence with the label of its field in place of the path. */
export function inWords({ path, message }) {
  const control = path && document.querySelector(`#form [data-path="${CSS.escape(path)}"]`);
  const label = control?.labels?.[0]?.textContent.trim() || control?.ariaLabel;
  return label && message.startsWith(`${path} `) ? label + message.slice(path.length) : message;
}

/** The control at a path, or at its deepest part that has one. */
function controlOf(path) {
  for (let at = path; at; at = at.slice(0, Math.max(0, at.lastIndexOf(".")))) {
    const found = document.querySelector(`#form [data-path="${CSS.escape(at)}"]`);
    if (found) return found;
  }
  return null;
}

const text = (value) =>
  value === undefined || value === null ? "" : typeof value === "object" ? JSON.stringify(value) : String(value);
