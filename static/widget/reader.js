// Announces messages to screen readers sentence by sentence, in a live region of its own: single tokens would be noise.
import { h } from "./dom.js";

const SENTENCE = /[^.!?…。؟]*[.!?…。؟]+["”’)»]*(?=\s|$)/gu;
const KEPT = 6;

export class Reader {
  constructor(label) {
    this.region = h("div", { class: "vh", role: "log", "aria-live": "polite", "aria-label": label });
    this.told = new Map();
    this.known = null;
  }

  /** Announces new messages, not those present at the first call. */
  read(talk) {
    for (const [turn, draft] of talk.drafts) this.tell(turn, draft.text, false);
    const said = talk.ordered();
    if (this.known === null) this.known = new Set(said.map((message) => message.id));
    for (const message of said) {
      if (this.known.has(message.id)) continue;
      this.known.add(message.id);
      if (message.role === "user") continue;
      this.tell(message.turn, message.content, true);
      this.told.delete(message.turn);
    }
  }

  tell(turn, text, isWhole) {
    const from = this.told.get(turn) ?? 0;
    const rest = text.slice(from);
    const ready = isWhole ? rest : (rest.match(SENTENCE) ?? []).join("");
    if (!ready.trim()) return;
    this.told.set(turn, from + ready.length);
    this.region.append(h("p", {}, ready.trim()));
    while (this.region.children.length > KEPT) this.region.firstChild.remove();
  }
}
