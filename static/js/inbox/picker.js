// A list of suggestions for what is typed at the caret of a textarea, by keyboard or pointer.
export class Picker {
  /**
   * `query(before)` is the text to look for, given the text before the caret; null hides the list. `options(query)` are
   * elements with role option, or a promise of them. `onPick(option)` is called with the chosen one.
   */
  constructor({ field, list, query, options, onPick }) {
    Object.assign(this, { field, list, query, options, onPick });
    field.addEventListener("input", () => this.look());
    field.addEventListener("click", () => this.look());
    field.addEventListener("blur", () => this.hide());
    // Before the composer's own keys.
    field.form.addEventListener("keydown", (event) => this.pressed(event), true);
    // The field keeps the focus.
    list.addEventListener("pointerdown", (event) => event.preventDefault());
    list.addEventListener("click", ({ target }) => this.pick(target.closest("[role=option]")));
  }

  look() {
    return this.show(this.query(this.field.value.slice(0, this.field.selectionStart)));
  }

  /** Shows everything, whatever is typed. */
  open() {
    return this.show("");
  }

  async show(query) {
    if (query === this.asked) return;
    this.asked = query;
    const options = query === null ? [] : await this.options(query);
    if (query !== this.asked) return;
    this.list.replaceChildren(...options);
    this.list.hidden = !options.length;
    this.mark(0);
  }

  hide() {
    this.asked = undefined;
    this.list.replaceChildren();
    this.list.hidden = true;
    this.field.removeAttribute("aria-activedescendant");
  }

  pressed(event) {
    if (event.target !== this.field || this.list.hidden || event.isComposing) return;
    const act = {
      ArrowDown: () => this.mark(this.at + 1),
      ArrowUp: () => this.mark(this.at - 1),
      Enter: () => this.pick(this.list.children[this.at]),
      Tab: () => this.pick(this.list.children[this.at]),
      Escape: () => this.hide(),
    }[event.key];
    if (!act || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }

  mark(at) {
    const { children } = this.list;
    if (!children.length) return this.hide();
    this.at = (at + children.length) % children.length;
    [...children].forEach((option, place) => option.setAttribute("aria-selected", String(place === this.at)));
    children[this.at].scrollIntoView({ block: "nearest" });
    this.field.setAttribute("aria-activedescendant", children[this.at].id);
  }

  pick(option) {
    if (!option) return;
    this.hide();
    this.onPick(option);
  }
}
