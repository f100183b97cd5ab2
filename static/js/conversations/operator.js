// The operator's part of a conversation: T takes it over, H hands it back, and what is written goes to the customer.
import { Composer } from "../composer.js";
import { offerKeys } from "../keys.js";

// What came in for the operator has no event of its own.
const EVERY_MS = 5_000;

export class Operator {
  /** `take` is the bar, which the server writes; `refresh()` asks for it again. */
  constructor({ api, conversation, take, form, refused, refresh, onMessage }) {
    Object.assign(this, { api, conversation, take, form, refused, refresh, onMessage });
    take.addEventListener("submit", (event) => this.pressed(event));
    if (form) this.begin();
    setInterval(() => this.isMine && !document.hidden && this.refresh(), EVERY_MS);
    new MutationObserver(() => this.fit()).observe(take, { childList: true });
  }

  begin() {
    this.composer = new Composer({ form: this.form, onSend: (content) => this.send(content) });
    offerKeys(
      ["T", "Take over; on a call, claim the request", { t: () => this.press("t") }],
      ["H", "Hand back to the agent", { h: () => this.press("h") }],
      ["↵", "Send what you wrote"],
      ["⇧ ↵", "New line"],
      ["esc", "Leave the field"],
    );
  }

  get isMine() {
    return this.take.querySelector("[data-has]")?.dataset.has === "me";
  }

  /** The bar has changed: whoever has the conversation may write. */
  fit() {
    if (!this.form || this.form.hidden === !this.isMine) return;
    this.form.hidden = !this.isMine;
    if (this.isMine && !document.querySelector(":popover-open")) this.composer.field.focus();
  }

  press(key) {
    this.take.querySelector(`[data-key="${key}"]`)?.click();
  }

  /** What the API does is done without leaving the page; any other form is sent as it stands. */
  async pressed(event) {
    const verb = event.target.dataset.do;
    if (!verb) return;
    event.preventDefault();
    if (this.isBusy) return;
    this.isBusy = true;
    await this.attempt(() => this.api.post(`/conversations/${this.conversation}/${verb}`));
    await this.refresh();
    this.isBusy = false;
  }

  /** The same words go with the same key until they are known to have arrived: the answer to a try may be all that was lost. */
  async send(content) {
    if (this.unsent?.content !== content) this.unsent = { content, key: crypto.randomUUID() };
    const { key } = this.unsent;
    const said = await this.attempt(() =>
      this.api.post(`/conversations/${this.conversation}/operator-messages`, { content }, { "Idempotency-Key": key }),
    );
    if (!said) return this.composer.restore(content);
    if (this.unsent?.key === key) this.unsent = null;
    this.onMessage(said);
  }

  /** What it gives; null where it was refused, which the page then says. */
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
