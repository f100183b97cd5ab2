// Announces the agent's reply to screen readers, sentence by sentence.
const SENTENCE = /[^.!?…。؟]*[.!?…。؟]+["”’)»]*(?=\s|$)/gu;

export class Announcer {
  constructor(region) {
    this.region = region;
    this.told = new Map();
    this.known = null;
  }

  render(store) {
    for (const [turn, draft] of store.drafts) this.tell(turn, draft.text, { whole: false });
    for (const message of this.fresh(store)) {
      this.tell(message.turn, message.content, { whole: true });
      this.told.delete(message.turn);
    }
  }

  /** Announces messages that arrived since the last call; the initial ones are skipped. */
  fresh(store) {
    const conversation = store.loading ? null : (store.conversation?.id ?? null);
    if (conversation !== this.conversation) {
      this.conversation = conversation;
      this.known = new Set(store.messages.keys());
      return [];
    }
    const fresh = store.orderedMessages().filter((message) => !this.known.has(message.id));
    fresh.forEach((message) => this.known.add(message.id));
    return fresh.filter((message) => message.role !== "user");
  }

  tell(turn, text, { whole }) {
    const from = this.told.get(turn) ?? 0;
    const rest = text.slice(from);
    const ready = whole ? rest : (rest.match(SENTENCE) ?? []).join("");
    if (!ready.trim()) return;
    this.told.set(turn, from + ready.length);
    this.say(ready.trim());
  }

  say(text) {
    const line = document.createElement("p");
    line.textContent = text;
    this.region.append(line);
    while (this.region.children.length > 6) this.region.firstChild.remove();
  }
}
