// The client state of a conversation. Subscribers are notified at most once per animation frame.
import { whenReleased } from "./dom.js";
import { Draft } from "./draft.js";

const WITHOUT_PARTS = {
  jobs: [],
  steps: [],
  verdicts: [],
  effects: [],
  promises: [],
  waits: [],
  analysis: null,
  observed: [],
  model_calls: [],
  directives_used: null,
  directives_written: null,
};

export class Store {
  constructor() {
    this.listeners = [];
    this.clear();
  }

  clear() {
    this.conversation = null;
    this.messages = new Map();
    this.turns = new Map();
    this.drafts = new Map();
    this.outbox = [];
    this.notes = [];
    this.waiting = null;
    this.selected = null;
    this.pinned = false;
    this.loading = false;
    this.touch();
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  touch() {
    if (this.scheduled) return;
    this.scheduled = true;
    const flush = () => {
      this.scheduled = false;
      for (const listener of this.listeners) listener(this);
    };
    // Hidden tabs have no animation frames.
    if (document.hidden) setTimeout(flush, 100);
    else requestAnimationFrame(() => whenReleased(flush));
  }

  putMessage(message) {
    this.messages.set(message.id, message);
    if (message.role === "agent") this.drafts.delete(message.turn);
    this.touch();
  }

  /** Stores how far a message came on its messenger. */
  putReceipt({ message, state, reason }) {
    const known = this.messages.get(message);
    if (known) this.messages.set(message, { ...known, receipt: { state, reason } });
    this.touch();
  }

  /** Stores a turn. Fields missing from a list's turn are kept from the known one. */
  putTurn(turn) {
    this.turns.set(turn.id, { ...WITHOUT_PARTS, ...this.turns.get(turn.id), ...turn });
    if (turn.status === "superseded" || turn.status === "failed") this.drafts.delete(turn.id);
    const newest = this.orderedTurns().at(-1);
    if (!this.pinned && newest) this.selected = newest.id;
    this.touch();
  }

  takeToken(token) {
    const status = this.turns.get(token.turn)?.status;
    if (status === "superseded" || status === "done" || status === "failed") return;
    if (!this.drafts.has(token.turn)) this.drafts.set(token.turn, new Draft());
    if (this.drafts.get(token.turn).take(token)) this.touch();
  }

  withdraw(turnId) {
    this.drafts.delete(turnId);
    this.touch();
  }

  /** Adds a staff note {key, code, message, turn?} to the transcript, once per key. */
  addNote(note) {
    if (this.notes.some((other) => other.key === note.key)) return;
    this.notes.push(note);
    this.touch();
  }

  /** Selects a turn; selecting the newest follows new ones. */
  select(turnId) {
    this.selected = turnId;
    this.pinned = turnId !== this.orderedTurns().at(-1)?.id;
    this.touch();
  }

  step(by) {
    const turns = this.orderedTurns();
    const index = turns.findIndex((turn) => turn.id === this.selected);
    const next = turns[Math.max(0, Math.min(turns.length - 1, index + by))];
    if (next) this.select(next.id);
  }

  follow() {
    this.pinned = false;
    this.selected = this.orderedTurns().at(-1)?.id ?? null;
  }

  orderedTurns() {
    return [...this.turns.values()].sort((a, b) => a.seq - b.seq);
  }

  orderedMessages() {
    return [...this.messages.values()].sort((a, b) => a.seq - b.seq);
  }

  get turn() {
    return this.turns.get(this.selected) ?? null;
  }

  isEmpty() {
    return !this.loading && !this.messages.size && !this.outbox.length && !this.notes.length;
  }
}
