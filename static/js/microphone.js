// The playground's microphone: a call over WebRTC with the provider that the project has connected.
import { h } from "./dom.js";
import { callStream, openedCall } from "./web_call.js";

export class Microphone {
  /** `bar` has the button; `start` begins a new test conversation with a call, for the browser's offer. */
  constructor(bar, { api, toast, start }) {
    Object.assign(this, { bar, api, toast, start, conversation: null });
    this.button = bar.querySelector("button");
    this.button.addEventListener("click", () => this.call());
  }

  async call() {
    const { script, name } = this.bar.dataset;
    const into = h("div", { class: "pg-call" });
    const close = () => (into.remove(), (this.bar.hidden = false), this.button.focus());
    this.bar.after(into);
    this.bar.hidden = true;
    try {
      await openedCall({ script, into, name, door: this.door(), language: document.documentElement.lang, onClose: close });
    } catch (error) {
      close();
      this.toast.error(error.message);
    }
  }

  door() {
    const path = (rest = "") => `/conversations/${this.conversation}/call${rest}`;
    return {
      start: async (offer, once) => {
        this.conversation = await this.start();
        return this.api.post(path(), { offer }, { "Idempotency-Key": once });
      },
      read: () => this.api.get(path()),
      report: (_, event) => this.api.post(path("/events"), { event }),
      stream: (id, options) => callStream(this.api.streamUrl(`/conversations/${id}/events`), options),
    };
  }

  show(isShown) {
    if (!this.bar.parentElement.querySelector(".pg-call")) this.bar.hidden = !isShown;
  }
}
