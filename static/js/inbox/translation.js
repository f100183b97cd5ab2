// Translations by the model: below each message, and of the answer before it is sent.
import { h } from "../dom.js";
import * as storage from "../storage.js";
import { write } from "./drafting.js";

// The server gives up earlier.
const TIMEOUT_MS = 45_000;
const PREFIX = "mg-translate:";

export class Translation {
  /** `part` is the switch above the transcript; `onChange()` draws the transcript again; `say(words)` shows an error. */
  constructor({ api, conversation, part, onChange, say }) {
    Object.assign(this, { api, conversation, part, onChange, say });
    this.texts = new Map();
    this.button = part.querySelector("button");
    this.button.addEventListener("click", () => this.toggle(!this.isOn));
    this.toggle(storage.read("sessionStorage", PREFIX + conversation) === "on");
  }

  toggle(isOn) {
    this.isOn = isOn;
    this.hasFailed = false;
    this.button.ariaPressed = String(isOn);
    storage.write("sessionStorage", PREFIX + this.conversation, isOn ? "on" : "off");
    this.onChange();
  }

  /** The translation of a message, if it is to be shown. What is in that language already has none. */
  of({ id, content }) {
    const text = this.isOn ? (this.texts.get(id) ?? "") : "";
    return text.trim() === content.trim() ? "" : text;
  }

  /** Asks for what isn't translated yet. After a failure nothing is asked until the switch is used again. */
  follow(messages) {
    const left = messages.some(({ id, role, content }) => role !== "system" && content && !this.texts.has(id));
    if (this.isOn && left && !this.isBusy && !this.hasFailed) this.ask();
  }

  async ask() {
    const before = this.texts.size;
    this.busy(true);
    try {
      const body = { language: this.part.dataset.language };
      const { translations } = await this.api.send("POST", `/conversations/${this.conversation}/translations`, body, { timeout: TIMEOUT_MS });
      for (const { message, content } of translations) this.texts.set(message, content);
      this.hasFailed = this.texts.size === before;
    } catch (error) {
      this.toggle(false);
      this.say(error.message);
    }
    this.busy(false);
    this.onChange();
  }

  busy(isBusy) {
    this.isBusy = isBusy;
    this.part.querySelector("[data-busy]").hidden = !isBusy;
  }
}

/** The row of a translation below its message. */
export const translationRow = (message, text) => ({
  key: `translation:${message.id}`,
  signature: text,
  build: () => h("p", { class: message.role === "user" ? "ib-translated" : "ib-translated ours", dir: "auto" }, text),
});

export class AnswerTranslation {
  /** `original` shows what was translated, with a way back to it. */
  constructor({ api, conversation, form, button, original, say }) {
    Object.assign(this, { api, conversation, form, button, original, say });
    this.field = form.querySelector("textarea");
    button.addEventListener("click", () => this.ask());
    original.querySelector("button").addEventListener("click", () => this.back());
    // What was refused stays in the field, and its original beside it.
    form.addEventListener("submit", () => (original.hidden ||= !this.field.value));
  }

  async ask() {
    const content = this.field.value.trim();
    if (!content || this.isBusy) return this.field.focus();
    this.say("");
    this.busy(true);
    try {
      const path = `/conversations/${this.conversation}/translations/answer`;
      const answer = await this.api.send("POST", path, { content }, { timeout: TIMEOUT_MS });
      // What was typed meanwhile isn't in the translation, which would replace it.
      if (this.field.value.trim() === content) this.offer(answer.content, { content });
    } catch (error) {
      this.say(error.message);
    }
    this.busy(false);
  }

  offer(translated, { content }) {
    this.original.querySelector("[data-text]").textContent = content;
    this.original.hidden = false;
    write(this.field, translated);
  }

  back() {
    write(this.field, this.original.querySelector("[data-text]").textContent);
    this.original.hidden = true;
  }

  busy(isBusy) {
    this.isBusy = isBusy;
    this.button.setAttribute("aria-busy", isBusy);
    for (const part of this.button.querySelectorAll("[data-busy]")) part.hidden = part.dataset.busy !== String(isBusy);
  }
}
