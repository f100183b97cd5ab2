// Words that are too long are never cut: it is said how long they are, and they stay in their field until they fit.
import { h } from "./dom.js";
import { count } from "./format.js";

const ENGLISH = "Too long: %(count)s of %(most)s characters. Remove %(over)s to send.";

/** Watches a field with `data-longest`, and says behind `after` what is too long, in the words of `sentence`. */
export class Limit {
  constructor(field, { after = field, sentence = ENGLISH } = {}) {
    this.field = field;
    this.sentence = sentence;
    this.longest = Number(field.dataset.longest);
    this.note = h("p", { class: "mg-long", id: `${field.id}-long`, role: "status" });
    after.after(this.note);
    field.addEventListener("input", () => this.look());
    this.look();
  }

  /** Whether the words are too many to be sent, which is then said. Characters are counted as the server counts them. */
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
