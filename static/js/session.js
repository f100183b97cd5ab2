// A conversation session: start, reopen, send, and refresh turns on events.
import { wordsOf } from "./attachments.js";
import { learn } from "./clock.js";
import { Newest } from "./newest.js";
import { needsPerson } from "./promise_state.js";
import { Stream } from "./stream.js";
import { isRunning, isSettling } from "./turn.js";

const COALESCE_MS = 60;
const WATCH_MS = 1_000;

export class Session {
  constructor({ api, store }) {
    this.api = api;
    this.store = store;
    this.queue = Promise.resolve();
    this.stale = new Set();
    this.newestTurns = new Map();
    this.newestConversation = new Newest();
    this.visit = 0;
    // Polling covers changes without events, such as a job that starts.
    setInterval(() => this.watch(), WATCH_MS);
  }

  get id() {
    return this.store.conversation?.id ?? null;
  }

  /** Resets the page's conversation and drops pending responses. */
  leave() {
    this.visit += 1;
    this.stream?.close();
    this.stale.clear();
    this.newestTurns.clear();
    this.queue = Promise.resolve();
    this.store.clear();
  }

  /** Messages sent while it opens go to this conversation. */
  open(id) {
    this.leave();
    this.store.loading = true;
    this.store.touch();
    const opening = this.enter(id);
    this.queue = opening.catch(() => {});
    return opening;
  }

  async enter(id) {
    const { visit } = this;
    const conversation = await this.api.get(`/conversations/${id}`);
    if (visit !== this.visit) return;
    this.store.conversation = conversation;
    this.store.waiting = lastWait(conversation);
    await this.load();
    if (visit !== this.visit) return;
    this.store.loading = false;
    this.store.touch();
    this.listen();
  }

  async load() {
    const id = this.id;
    const [messages, turns] = await Promise.all([
      this.api.list(`/conversations/${id}/messages`),
      this.api.list(`/conversations/${id}/turns`),
    ]);
    if (id !== this.id) return;
    messages.forEach((message) => this.store.putMessage(message));
    turns.forEach((turn) => this.store.putTurn(turn));
    this.detailed(turns).forEach((turn) => this.refresh(turn.id));
  }

  /** The turns whose details are loaded, which the list doesn't have: the newest first. */
  detailed(turns) {
    return turns.toReversed();
  }

  async begin({ channel, persona, isDraft }) {
    const visit = this.visit;
    const metadata = isDraft ? { playground: true, draft: true } : { playground: true };
    const conversation = await this.api.post("/conversations", { channel, persona, metadata });
    if (visit !== this.visit) return;
    this.store.conversation = conversation;
    this.store.touch();
    this.listen();
  }

  listen() {
    this.stream?.close();
    this.stream = new Stream({
      url: this.api.streamUrl(`/conversations/${this.id}/events`),
      onEvent: (type, data) => this.received(type, data),
      onLost: () => this.connection(false),
      onOpen: () => this.connection(true),
    });
  }

  connection(isOpen) {
    this.store.isLost = !isOpen;
    this.store.touch();
  }

  /** Sends customer messages one at a time, in order. Retries reuse the idempotency key. */
  send(content, { start, files = [] }) {
    const item = { key: crypto.randomUUID(), content, files, state: "sending", wasTried: false, error: null };
    this.store.outbox.push(item);
    this.store.follow();
    this.store.touch();
    return this.deliver(item, { start });
  }

  deliver(item, { start }) {
    const { store, visit } = this;
    Object.assign(item, { state: "sending", error: null });
    store.touch();
    this.queue = this.queue.then(async () => {
      if (!store.outbox.includes(item)) return;
      try {
        if (!this.id) await start();
        if (visit !== this.visit) return;
        const message = await this.post(item);
        if (visit !== this.visit) return;
        // Words that are said in a call come back with its transcript.
        if (!message) return;
        this.discard(item);
        store.putMessage(message);
        this.refresh(message.turn);
      } catch (error) {
        Object.assign(item, { state: "failed", wasTried: true, error });
        store.touch();
      }
    });
    return this.queue;
  }

  async post(item) {
    if (this.phone?.has(this.id)) return void (await this.phone.say(item));
    const sentAt = Date.now();
    const { message } = await this.api.post(
      `/conversations/${this.id}/messages`,
      item.files.length ? { content: item.content, attachments: item.files.map(({ id }) => id) } : { content: item.content },
      { "Idempotency-Key": item.key },
    );
    // The response to a retry may be that of the first attempt.
    if (!item.wasTried) learn(message.created_at, { sentAt });
    return message;
  }

  discard(item) {
    this.store.outbox = this.store.outbox.filter((other) => other !== item);
    this.store.touch();
  }

  received(type, data) {
    const handler = {
      message: () => this.messageCame(data),
      token: () => this.tokenCame(data),
      turn: () => this.turnChanged(data),
      receipt: () => this.store.putReceipt(data),
      waiting: () => this.waitingChanged(data),
      error: () => this.store.addNote({ key: `${data.turn}:${data.message}`, ...data }),
      reset: () => this.wasReset(data),
    }[type];
    handler?.();
    const turn = type === "turn" ? data.turn : (data.turn ?? this.store.orderedTurns().at(-1)?.id);
    if (type !== "token" && type !== "receipt" && turn) this.refresh(turn);
  }

  /** Marks messages as sent when the stream delivers them before the response. */
  messageCame(message) {
    const sent = this.store.outbox.find(
      (item) => message.role === "user" && item.state === "sending" && item.content === wordsOf(message),
    );
    if (sent && !this.store.messages.has(message.id)) this.discard(sent);
    this.store.putMessage(message);
  }

  tokenCame(token) {
    this.store.takeToken(token);
    if (this.store.turns.get(token.turn)?.status === "queued") this.refresh(token.turn);
  }

  turnChanged({ turn, status, lane, state }) {
    if (status === "superseded") this.store.withdraw(turn);
    if (lane === "observer" && state === "done") this.refreshConversation();
  }

  /** Applies a wait event. When one of several waits ends, the conversation tells which remain. */
  waitingChanged({ waiting, reason, until }) {
    // Responses from before this event are outdated.
    this.newestConversation.outdate();
    if (waiting) this.store.waiting = { reason, until };
    this.store.touch();
    this.refreshConversation();
  }

  wasReset({ messages }) {
    this.store.messages.clear();
    messages.forEach((message) => this.store.putMessage(message));
    this.load().catch(() => this.connection(false));
  }

  async refreshConversation() {
    const id = this.id;
    const conversation = await this.newestConversation.of(this.api.get(`/conversations/${id}`));
    if (!conversation || id !== this.id) return;
    this.store.conversation = conversation;
    this.store.waiting = lastWait(conversation);
    this.store.touch();
  }

  /** Schedules a fetch of a turn. Bursts of events share one request; an event during it triggers another. */
  refresh(turnId) {
    if (!turnId || this.stale.has(turnId)) return;
    this.stale.add(turnId);
    const { visit } = this;
    setTimeout(() => visit === this.visit && this.fetchTurn(turnId), COALESCE_MS);
  }

  /** Fetches the turns whose promises a person has to keep: a todo of theirs changed. */
  refreshOwners() {
    for (const turn of this.store.turns.values()) if (turn.promises.some(needsPerson)) this.refresh(turn.id);
  }

  async fetchTurn(turnId) {
    this.stale.delete(turnId);
    const id = this.id;
    if (!this.newestTurns.has(turnId)) this.newestTurns.set(turnId, new Newest());
    const turn = await this.newestTurns.get(turnId).of(this.api.get(`/conversations/${id}/turns/${turnId}`));
    if (turn && id === this.id) this.store.putTurn(turn);
  }

  watch() {
    if (document.hidden || !this.id) return;
    for (const turn of this.store.turns.values()) if (isRunning(turn) || isSettling(turn)) this.refresh(turn.id);
  }

  async runAgain(jobId, turnId) {
    await this.api.post(`/jobs/${jobId}/run-again`);
    this.refresh(turnId);
  }
}

/** The wait with the latest deadline; null if none. */
const lastWait = ({ waits = [] }) => [...waits].sort((a, b) => new Date(b.until) - new Date(a.until))[0] ?? null;
