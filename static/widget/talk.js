// One visitor's conversation: messages, streamed drafts, and the outbox.
import { Refusal } from "./api.js";
import { wordsOf } from "./files.js";
import { pause, randomKey } from "./timing.js";

const FIRST_DELAY_MS = 500;
const LAST_DELAY_MS = 15_000;
const OVER = new Set(["done", "failed", "superseded"]);

export class Talk {
  constructor({ api, memory, onChange, onSession }) {
    Object.assign(this, { api, memory, onChange, onSession });
    this.conversation = null;
    this.messages = new Map();
    this.drafts = new Map();
    this.over = new Set();
    this.outbox = [];
    this.waiting = false;
    this.isOver = false;
    this.rating = null;
    this.lost = false;
    this.delay = FIRST_DELAY_MS;
    addEventListener("online", () => this.resume());
    addEventListener("offline", () => this.changed());
    document.addEventListener("visibilitychange", () => (document.hidden ? this.stop() : this.resume()));
  }

  get offline() {
    return !navigator.onLine;
  }

  ordered() {
    return [...this.messages.values()].sort((one, other) => one.seq - other.seq);
  }

  changed() {
    this.onChange(this);
  }

  /** Switches to the conversation that a session returned. */
  take(conversation) {
    if (this.conversation !== conversation) {
      Object.assign(this, { conversation, lastId: null, waiting: false, isOver: false, rating: null });
      this.messages.clear();
      this.drafts.clear();
      this.stop();
    }
    this.follow();
    this.changed();
  }

  // Stream

  async follow() {
    if (!this.conversation || this.following || document.hidden) return;
    const following = (this.following = new AbortController());
    while (!following.signal.aborted && this.conversation) {
      try {
        await this.api.stream({
          conversation: this.conversation,
          after: this.lastId,
          signal: following.signal,
          onOpen: () => this.opened(),
          onFrame: (frame) => this.received(frame),
        });
      } catch (error) {
        if (following.signal.aborted) break;
        await this.recover(error);
      }
      if (following.signal.aborted) break;
      await this.backOff();
    }
    if (this.following === following) this.following = null;
  }

  opened() {
    this.delay = FIRST_DELAY_MS;
    this.lost = false;
    this.changed();
  }

  /** Renews an expired token, or switches to the visitor's current conversation. */
  async recover(error) {
    if (!(error instanceof Refusal)) {
      this.lost = true;
      return this.changed();
    }
    this.delay = Math.max(this.delay, error.seconds * 1000);
    if (error.status === 401 || error.status === 404) await this.renew().catch((refusal) => refusal.status === 404 && this.take(null));
  }

  async renew() {
    const session = await this.api.open();
    this.onSession(session);
    this.take(session.conversation);
  }

  async backOff() {
    const wait = this.delay * (0.75 + Math.random() / 2);
    this.delay = Math.min(this.delay * 2, LAST_DELAY_MS);
    await Promise.race([pause(wait), new Promise((resolve) => (this.wake = resolve))]);
  }

  stop() {
    this.following?.abort();
    this.following = null;
    this.wake?.();
  }

  resume() {
    this.delay = FIRST_DELAY_MS;
    this.wake?.();
    this.follow();
    this.outbox.filter((item) => item.state === "failed" && item.unreached).forEach((item) => this.send(item));
    this.changed();
  }

  // Incoming events

  received({ event, data, id }) {
    this[`on_${event}`]?.(data);
    if (id) this.lastId = id;
    this.changed();
  }

  on_reset({ messages, waiting, writing, over, rating }) {
    this.messages = new Map(messages.map((message) => [message.id, message]));
    this.drafts.clear();
    Object.assign(this, { waiting, isOver: over, rating });
    if (writing) this.resumeDraft(writing);
    messages.forEach((message) => message.role === "user" && this.arrived(message));
  }

  /** Resumes the draft of a reply that was being written when the page loaded. Its next token event replays the earlier text. */
  resumeDraft({ turn, tool, blocks }) {
    this.over.delete(turn);
    Object.assign(this.draft(turn), { tool, blocks, isResumed: true });
  }

  on_message(message) {
    this.messages.set(message.id, message);
    if (message.role !== "user") return this.end(message.turn);
    this.isOver = false;
    this.arrived(message);
  }

  /** A token may arrive after its turn has ended. */
  on_token({ turn, attempt, offset, text }) {
    if (this.over.has(turn)) return;
    const draft = this.draft(turn);
    if (attempt < draft.attempt) return;
    // Offsets count code points; a JavaScript string counts an emoji as two.
    const kept = attempt === draft.attempt ? [...draft.text].slice(0, offset).join("") : "";
    Object.assign(draft, { attempt, text: kept + text, tool: draft.isResumed ? draft.tool : "", isResumed: false });
  }

  on_tool_call({ turn, tool }) {
    if (!this.over.has(turn)) this.draft(turn).tool = tool || "tool";
  }

  on_block({ turn, block }) {
    if (!this.over.has(turn)) this.draft(turn).blocks.push(block);
  }

  on_turn({ turn, status }) {
    if (OVER.has(status)) return this.end(turn);
    // An operator can have a failed reply written again.
    this.over.delete(turn);
    this.draft(turn);
  }

  on_done({ turn }) {
    this.end(turn);
  }

  end(turn) {
    this.drafts.delete(turn);
    this.over.add(turn);
  }

  on_over({ over }) {
    this.isOver = over;
  }

  on_waiting({ waiting }) {
    this.waiting = waiting;
  }

  /** The draft of a reply. A newer attempt replaces its text, but keeps the blocks already shown. */
  draft(turn) {
    if (!this.drafts.has(turn)) this.drafts.set(turn, { turn, attempt: 0, text: "", tool: "", blocks: [] });
    return this.drafts.get(turn);
  }

  // Outgoing messages

  /** `files` were uploaded. */
  say(content, files = []) {
    const item = { key: randomKey(), content, files, state: "sending" };
    this.outbox.push(item);
    return this.send(item);
  }

  /** Every try has the same idempotency key, so that a message is stored once. */
  async send(item) {
    Object.assign(item, { state: "sending", error: null, unreached: false });
    this.changed();
    try {
      this.stored(item, await this.postWithRetry(item));
    } catch (error) {
      Object.assign(item, { state: "failed", error, unreached: !(error instanceof Refusal) });
      if (item.unreached) this.sendLater(item);
    }
    this.changed();
  }

  /** Sends a message again that didn't reach the server, each time a little later. Without a network, `resume` does. */
  async sendLater(item) {
    item.delay = Math.min((item.delay ?? FIRST_DELAY_MS) * 2, LAST_DELAY_MS);
    await pause(item.delay);
    if (this.outbox.includes(item) && item.state === "failed" && !this.offline) this.send(item);
  }

  async postWithRetry(item) {
    const said = { content: item.content, attachments: item.files.map(({ id }) => id) };
    const post = () => this.api.post("messages", said, { once: item.key });
    try {
      return await post();
    } catch (error) {
      if (error.status === 401) await this.renew();
      else if (error.seconds) await pause(error.seconds * 1000);
      else throw error;
      return post();
    }
  }

  stored(item, { conversation, message, turn }) {
    this.outbox = this.outbox.filter((other) => other !== item);
    if (conversation !== this.conversation) this.take(conversation);
    this.messages.set(message.id, message);
    this.isOver = false;
    const isAnswered = this.ordered().some((other) => other.turn === turn?.turn && other.role === "agent");
    // The stream may already have reported the end of the turn that this response began.
    if (turn && !isAnswered && !this.over.has(turn.turn)) this.on_turn(turn);
  }

  /** The stream may deliver a message before the response to its POST. */
  arrived(message) {
    const said = wordsOf(message);
    const ids = (files) => (files ?? []).map(({ id }) => id).join();
    const isSame = (item) => item.content === said && ids(item.files) === ids(message.attachments);
    const at = this.outbox.findIndex((item) => item.state === "sending" && isSame(item));
    if (at >= 0) this.outbox.splice(at, 1);
  }

  /** Stores a file for the next message, and returns it. */
  async upload(file, options) {
    try {
      return await this.api.upload(file, options);
    } catch (error) {
      if (error.status !== 401) throw error;
      await this.renew();
      return this.api.upload(file, options);
    }
  }

  /** Stores the rating, and returns it. A repeated request changes nothing. */
  async rate(score, comment) {
    const post = () => this.api.post("rating", { score, comment });
    const answer = await post().catch(async (error) => {
      if (error.status !== 401) throw error;
      await this.renew();
      return post();
    });
    this.rating = answer.rating;
    return this.rating;
  }

  discard(item) {
    this.outbox = this.outbox.filter((other) => other !== item);
    this.changed();
  }
}
