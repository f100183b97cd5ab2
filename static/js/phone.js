// The playground's phone: a whole call, whose caller types.
import { fill, gettext } from "./i18n.js";

const WATCH_MS = 1_000;
const OPEN = new Set(["ringing", "answering", "live"]);

export class Phone {
  /** `bar` shows the call's state; `onCall` starts a new conversation with a call. */
  constructor(bar, { api, toast, onCall }) {
    Object.assign(this, { bar, api, toast });
    this.state = bar.querySelector("[role=status]");
    this.clock = bar.querySelector("[role=timer]");
    this.callButton = bar.querySelector("[data-call]");
    this.endButton = bar.querySelector("[data-end]");
    this.callButton.addEventListener("click", onCall);
    this.endButton.addEventListener("click", () => this.hangUp());
    this.leave();
    setInterval(() => this.watch(), WATCH_MS);
  }

  /** True if this conversation's words are said in a call. */
  has(conversation) {
    return Boolean(conversation) && this.conversation === conversation;
  }

  leave() {
    Object.assign(this, { conversation: null, call: null, liveSince: null });
    this.render();
  }

  async begin(conversation) {
    this.conversation = conversation;
    this.take(conversation, await this.api.post(`/conversations/${conversation}/call`, {}));
  }

  /** Shows the call of a conversation, if it has one. */
  async open(conversation) {
    this.leave();
    try {
      const call = await this.api.get(`/conversations/${conversation}/call`);
      this.conversation = conversation;
      this.take(conversation, call);
    } catch (error) {
      if (error.status !== 404) this.toast.error(error.message);
    }
  }

  say(item) {
    return this.api.post(`/conversations/${this.conversation}/call/words`, { text: item.content }, { "Idempotency-Key": item.key });
  }

  async hangUp() {
    const { conversation } = this;
    try {
      this.take(conversation, await this.api.post(`/conversations/${conversation}/call/events`, { event: "hung_up" }));
    } catch (error) {
      this.toast.error(error.message);
    }
  }

  async watch() {
    const { conversation } = this;
    if (this.liveSince && this.isOpen) this.renderClock();
    if (!conversation || !this.isOpen) return;
    const call = await this.api.get(`/conversations/${conversation}/call`).catch(() => null);
    if (call) this.take(conversation, call);
  }

  get isOpen() {
    return OPEN.has(this.call?.state);
  }

  take(conversation, call) {
    if (!this.has(conversation)) return;
    this.call = call;
    if (call.state === "live") this.liveSince ??= Date.now();
    this.render();
  }

  show(isShown) {
    this.bar.hidden = !isShown;
  }

  render() {
    const sentence = this.call ? stateOf(this.call) : gettext("Call the agent, and type what the caller says.");
    if (this.state.textContent !== sentence) this.state.textContent = sentence;
    this.callButton.hidden = this.isOpen;
    this.endButton.hidden = !this.isOpen;
    if (!this.call) this.clock.textContent = "";
  }

  renderClock() {
    const seconds = Math.floor((Date.now() - this.liveSince) / 1000);
    this.clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }
}

function stateOf({ state, number }) {
  if (state === "transferred") return fill(gettext("Transferred to %(number)s"), { number });
  return {
    ringing: gettext("Ringing…"),
    answering: gettext("Ringing…"),
    live: gettext("In a call"),
    ended: gettext("Call ended"),
    rejected: gettext("The agent didn’t take the call."),
    failed: gettext("The call failed."),
  }[state];
}
