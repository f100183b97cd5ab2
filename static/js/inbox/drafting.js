// “Draft”: the model writes an answer into the composer. It is sent by whoever reads it, never by itself.
import { gettext } from "../i18n.js";
import { offerKeys } from "../keys.js";

// The server gives up earlier.
const TIMEOUT_MS = 45_000;

export class Drafting {
  /** `say(words)` shows why there is no draft. */
  constructor({ api, conversation, form, button, say }) {
    Object.assign(this, { api, conversation, form, button, say });
    this.field = form.querySelector("textarea");
    button.addEventListener("click", () => this.ask());
    offerKeys(["D", gettext("Draft a reply"), { d: () => this.ask() }]);
  }

  async ask() {
    if (this.form.hidden || this.isBusy) return;
    const begun = this.field.value;
    this.say("");
    this.busy(true);
    try {
      const { content } = await this.api.send("POST", `/conversations/${this.conversation}/draft`, { begun }, { timeout: TIMEOUT_MS });
      this.offer(content, { begun });
    } catch (error) {
      this.say(error.message);
    } finally {
      this.busy(false);
    }
  }

  /** Replaces what the draft completes; what was typed since stays before it. */
  offer(content, { begun }) {
    const { value } = this.field;
    write(this.field, value === begun ? content : [value, content].filter(Boolean).join("\n"));
  }

  busy(isBusy) {
    this.isBusy = isBusy;
    this.button.setAttribute("aria-busy", isBusy);
    for (const part of this.button.querySelectorAll("[data-busy]")) part.hidden = part.dataset.busy !== String(isBusy);
  }
}

/** Replaces a field's text as typing would, so that the browser's undo brings the old one back. */
export function write(field, text) {
  field.focus();
  field.select();
  if (document.execCommand("insertText", false, text)) return;
  field.value = text;
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
