// Canned replies in the answer: “/” at its beginning, or the button, lists them; the chosen one is inserted with its fields filled in.
import { h } from "../dom.js";
import { fill, gettext } from "../i18n.js";
import { Picker } from "./picker.js";

const TYPED = /^\/([^\n]{0,40})$/;
const FRESH_MS = 60_000;
const NEW = "reply-new";

export class Replies {
  /** `tool` holds the button, the list and the address of the page; `say(words)` shows a sentence above the answer. */
  constructor({ api, conversation, composer, tool, say }) {
    Object.assign(this, { api, conversation, composer, say, page: tool.dataset.page });
    const { field } = composer;
    this.picker = new Picker({
      field,
      list: tool.querySelector("[role=listbox]"),
      query: (before) => TYPED.exec(before)?.[1] ?? null,
      options: (query) => this.options(query),
      onPick: (option) => (option.id === NEW ? this.create() : this.insert(this.found.get(option.id))),
    });
    tool.querySelector("button").addEventListener("click", () => this.open());
  }

  async open() {
    this.composer.field.focus();
    if ((await this.read()).length) this.picker.open();
    else location.assign(this.page);
  }

  /** Leaves for the page where a reply is created, without the “/” that was typed. */
  create() {
    const { field } = this.composer;
    if (TYPED.test(field.value)) field.value = "";
    field.dispatchEvent(new Event("input"));
    location.assign(this.page);
  }

  /** The replies for this conversation, read again after a minute. */
  async read() {
    if (this.replies && Date.now() - this.readAt < FRESH_MS) return this.replies;
    const { results } = await this.api.get(`/conversations/${this.conversation}/canned-replies`).catch(() => ({}));
    this.replies = results;
    this.readAt = Date.now();
    return results ?? [];
  }

  async options(query) {
    const words = query.toLowerCase();
    await this.read();
    if (!words && this.replies && !this.replies.length) return [newReply()];
    const found = (await this.read()).filter(({ name, content }) => `${name}\n${content}`.toLowerCase().includes(words));
    found.sort((a, b) => b.name.toLowerCase().startsWith(words) - a.name.toLowerCase().startsWith(words));
    this.found = new Map(found.map((reply) => [`reply-${reply.id}`, reply]));
    return found.map(({ id, name, content }) =>
      h("li", { role: "option", id: `reply-${id}` }, h("b", { class: "tb" }, name), " ", h("span", { class: "t2", dir: "auto" }, content)),
    );
  }

  /** Replaces what was typed to find the reply, or else the selection. */
  insert({ content, missing }) {
    const { field } = this.composer;
    const start = TYPED.test(field.value.slice(0, field.selectionStart)) ? 0 : field.selectionStart;
    field.setRangeText(content, start, field.selectionEnd, "end");
    field.dispatchEvent(new Event("input"));
    field.focus();
    this.say("");
    if (missing.length) this.hasGap(field.value);
  }

  /** True if a field without a value is left in the text. Selects it and says so. */
  hasGap(content) {
    const gap = (this.replies ?? []).flatMap(({ missing }) => missing).find((name) => locate(content, name));
    if (!gap) return false;
    const { field } = this.composer;
    const { index, 0: text } = locate(field.value, gap);
    field.setSelectionRange(index, index + text.length);
    this.say(fill(gettext("There is no value for %(text)s. Write it yourself."), { text }));
    return true;
  }
}

const newReply = () =>
  h("li", { role: "option", id: NEW }, h("span", { class: "t2" }, gettext("No canned replies yet.")), " ", h("b", { class: "tb" }, gettext("Create one")));

const locate = (text, name) => new RegExp(`\\{\\{\\s*${name.replaceAll(".", "\\.")}\\s*\\}\\}`).exec(text);
