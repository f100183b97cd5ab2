// Words that are too long are never cut: it is said how long they are, and they stay in their field until they fit.
import { h } from "./dom.js";
import { count } from "./format.js";

/** Watches a field with `data-longest`, and says behind `after` what is too long. */
export class Limit {
  constructor(field, { after = field } = {}) {
    this.field = field;
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
    this.note.textContent = isOver
      ? `That is ${count(length)} characters; the limit is ${count(this.longest)}. Nothing is lost: shorten it by ${count(over)}, then send it.`
      : "";
    this.field.setAttribute("aria-invalid", String(isOver));
    if (isOver) this.field.setAttribute("aria-describedby", this.note.id);
    else this.field.removeAttribute("aria-describedby");
    return isOver;
  }
}
