// Length limits that never truncate: the field shows an error until the text fits.
import { h } from "./dom.js";
import { count } from "./format.js";
import { gettext } from "./i18n.js";

const SENTENCE = gettext("Too long: %(count)s of %(most)s characters. Remove %(over)s to send.");

/** Watches a field with `data-longest` and shows `sentence` after the element `after` when it is too long. */
export class Limit {
  constructor(field, { after = field, sentence = SENTENCE } = {}) {
    this.field = field;
    this.sentence = sentence;
    this.longest = Number(field.dataset.longest);
    this.note = h("p", { class: "mg-long", id: `${field.id}-long`, role: "status" });
    after.after(this.note);
    field.addEventListener("input", () => this.look());
    this.look();
  }

  /** True, with the error shown, if the text is too long. Counts code points, as the server does. */
  look() {
    const length = [...this.field.value.trim()].length;
    const over = length - this.longest;
    const isOver = over > 0;
    const numbers = { count: length, most: this.longest, over };
    this.note.textContent = isOver ? this.sentence.replace(/%\((\w+)\)s/g, (_, name) => count(numbers[name])) : "";
    this.field.setAttribute("aria-invalid", String(isOver));
    if (isOver) this.field.setAttribute("aria-describedby", this.note.id);
    else this.field.removeAttribute("aria-describedby");
    return isOver;
  }
}
