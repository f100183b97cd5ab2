// The operator bar: takeover, handback and messages to the customer.
import { Composer } from "../composer.js";
import { Files } from "../files.js";
import { gettext } from "../i18n.js";
import { offerKeys } from "../keys.js";
import { Replies } from "./replies.js";
import { ReplyChat } from "./reply_chat.js";
import { Templates } from "./templates.js";
import { Unsent } from "./unsent.js";

// Polled, because tool results for the operator send no event.
const EVERY_MS = 5_000;
const META_MS = 30_000;
const lostWords = () => gettext("You no longer have this conversation. Your text is kept: take over to send it.");

export class Operator {
  /** `take` is the server-rendered bar; `refresh()` reloads it, and promises false if it couldn't be read. */
  /** `onWrite()` is called before the answer's field is focused. */
  constructor({ api, conversation, take, form, refused, refresh, onMessage, onWrite }) {
    Object.assign(this, { api, conversation, take, form, refused, refresh, onMessage, onWrite });
    take.addEventListener("submit", (event) => this.pressed(event));
    if (form) this.begin();
    setInterval(() => this.isMine && !document.hidden && this.refresh(), EVERY_MS);
    new MutationObserver(() => this.fit()).observe(take, { childList: true });
  }

  begin() {
    this.wasMine = this.isMine;
    this.composer = new Composer({ form: this.form, onSend: (content) => this.send(content) });
    this.unsent = new Unsent(this.conversation);
    this.unsentTemplate = new Unsent(this.conversation, "mg-template:");
    const { field } = this.composer;
    // What was typed before this ran stays.
    field.value = [this.unsent.content, field.value].filter(Boolean).join("\n");
    this.composer.fit();
    field.addEventListener("input", () => this.unsent.type(field.value));
    this.addTools();
    offerKeys(
      ["T", gettext("Take over, or claim a call’s request, or write a reply"), { t: () => this.takeOver() }],
      ["H", gettext("Hand back to the agent"), { h: () => this.press("h") }],
      ["⇧ ↵", gettext("New line")],
    );
  }

  /** Canned replies and files, in the composer. */
  addTools() {
    const { api, conversation, composer, form } = this;
    const say = (words) => this.say(words);
    const part = (id) => form.querySelector(`#${id}`);
    this.replies = new Replies({ api, conversation, composer, tool: part("reply-tool"), say });
    const path = `/conversations/${conversation}/attachments`;
    const upload = (file, key) => api.upload(path, file, key);
    this.files = new Files({ form, tool: part("file-tool"), list: part("files"), say, upload, kept: `mg-files:${conversation}`, zone: form.closest(".ib-conv") });
    this.chat = new ReplyChat({ api, conversation, part: part("reply-chat"), window: part("reply-window") });
    new Templates({ api, conversation, files: this.files, form, panel: part("template"), say, send: (body) => this.sendTemplate(body) });
    composer.isRefused = (content) => composer.field.readOnly || this.files.isBusy || this.replies.hasGap(content) || this.isWithoutWay();
    // A file without words is sent with its name, which the agent reads later.
    composer.whenEmpty = () => this.files.names.join(", ");
  }

  /** True, with a sentence, while the files can't go to the chosen chat. */
  isWithoutWay() {
    const refusal = this.chat.refusal(this.files.ids);
    if (refusal) this.say(refusal);
    return Boolean(refusal);
  }

  takeOver() {
    if (!this.isMine && !this.take.querySelector("[data-do=take-over]")) return this.press("t");
    this.form.hidden = false;
    this.onWrite();
    this.composer.field.focus();
    if (!this.isMine) this.press("t");
  }

  get isMine() {
    return this.take.querySelector("[data-has]")?.dataset.has === "me";
  }

  /** Shows the composer to the operator who has the conversation. */
  fit() {
    const { form, isMine } = this;
    if (!form || this.wasMine === isMine) return;
    this.wasMine = isMine;
    const { field } = this.composer;
    const isWritten = !form.hidden && Boolean(field.value.trim());
    field.readOnly = false;
    form.hidden = !isMine;
    if (!isMine && isWritten) {
      this.keepInSight();
      this.say(lostWords());
    }
    // Who began a note meanwhile stays in it: what is typed next would be in the customer's answer.
    if (!isMine || form.parentElement.dataset.write === "note" || document.querySelector(":popover-open")) return;
    this.onWrite();
    field.focus();
  }

  /** A text that was being written when the conversation went to somebody else. With the focus in it, the letters typed next press
   * no keys of the page. */
  keepInSight() {
    const { field } = this.composer;
    this.form.hidden = false;
    field.readOnly = true;
    field.focus();
  }

  /** Hides the field of an answer that can't be given. What is typed in it stays in sight, with the reason: a refusal has given its own. */
  leave() {
    this.form.hidden = !this.composer.field.value.trim();
    if (this.form.hidden) return;
    this.keepInSight();
    if (this.refused.hidden) this.say(lostWords());
  }

  press(key) {
    this.take.querySelector(`[data-key="${key}"]`)?.click();
  }

  /** Sends API actions without leaving the page; other forms are submitted as usual. */
  async pressed(event) {
    const verb = event.target.dataset.do;
    if (!verb) return;
    event.preventDefault();
    if (this.isBusy) return;
    if (verb === "take-over") this.onWrite();
    this.isBusy = true;
    this.doing = this.attempt(() => this.api.post(`/conversations/${this.conversation}/${verb}`)).then(() => this.refresh());
    const isRead = await this.doing;
    this.isBusy = false;
    // A page that couldn't be read doesn't tell who has the conversation: typing goes on.
    if (this.form && isRead && !this.isMine && !this.form.hidden && !this.composer.field.readOnly) this.leave();
  }

  /** Retries reuse the idempotency key, because only the response to an earlier attempt may have been lost. */
  async send(content) {
    const attachments = this.files.ids;
    const { chosen } = this.chat;
    const key = this.unsent.begin(content, [...attachments, chosen]);
    const body = attachments.length ? { content, attachments } : { content };
    const said = await this.attempt(async () => {
      // The take-over whose answer is already written.
      await this.doing;
      await this.chat.takeOver();
      return this.api.post(`/conversations/${chosen}/operator-messages`, body, { "Idempotency-Key": key });
    });
    if (!said) {
      this.composer.restore(content);
      return this.isMine || this.keepInSight();
    }
    // One that was attached meanwhile is for the next answer.
    for (const id of attachments) this.files.remove(id);
    this.unsent.done(this.composer.field.value);
    if (chosen !== this.conversation) return this.chat.follow(chosen);
    this.onMessage(said);
  }

  /** Sends a template here. Returns true if it was stored. */
  async sendTemplate(body) {
    const headers = { "Idempotency-Key": this.unsentTemplate.begin(JSON.stringify(body)) };
    const said = await this.attempt(() => this.api.send("POST", `/conversations/${this.conversation}/templates`, body, { headers, timeout: META_MS }));
    if (!said) return false;
    this.unsentTemplate.done("");
    this.onMessage(said);
    return true;
  }

  /** Returns the result, or shows the error and returns null. */
  async attempt(deed) {
    this.say("");
    try {
      return await deed();
    } catch (error) {
      this.say(error.message);
      await this.refresh();
      return null;
    }
  }

  say(words) {
    this.refused.hidden = !words;
    this.refused.querySelector("span").textContent = words;
  }
}
