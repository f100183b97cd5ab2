// The message composer. Enter sends, Shift+Enter adds a line.
import { fill, gettext } from "./i18n.js";
import { Limit } from "./limit.js";

const LINES_PX = 168;

export class Composer {
  /** Replaced by what refuses to send some texts; it tells why. */
  isRefused = () => false;
  /** Replaced by what is sent in place of no words. */
  whenEmpty = () => "";

  /** Replaced where something can be sent without words. */
  mayBeEmpty = () => false;

  constructor({ form, suggest, onSend, onSuggest }) {
    this.form = form;
    this.field = form.querySelector("textarea");
    this.limit = new Limit(this.field);
    this.onSend = onSend;
    form.addEventListener("submit", (event) => (event.preventDefault(), this.submit()));
    this.field.addEventListener("keydown", (event) => this.pressed(event));
    this.field.addEventListener("input", () => this.fit());
    suggest?.addEventListener("click", () => this.fill(onSuggest()));
  }

  pressed(event) {
    if (event.key === "Escape") return this.field.blur();
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    this.form.requestSubmit();
  }

  submit() {
    const content = this.field.value.trim() || this.whenEmpty();
    if ((!content && !this.mayBeEmpty()) || this.limit.look() || this.isRefused(content)) return this.field.focus();
    this.fill("");
    this.onSend(content);
  }

  fill(text) {
    this.field.value = text;
    this.limit.look();
    this.fit();
    this.field.focus();
  }

  /** Puts unsent text back, before anything typed since. */
  restore(text) {
    this.fill([text, this.field.value].filter(Boolean).join("\n"));
  }

  fit() {
    this.field.style.height = "auto";
    this.field.style.height = `${Math.min(this.field.scrollHeight, LINES_PX)}px`;
  }

  address(name) {
    this.field.placeholder = name ? fill(gettext("Write as %(name)s…"), { name: name.split(" ")[0] }) : gettext("Write as the customer…");
  }
}
