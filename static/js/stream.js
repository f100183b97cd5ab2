// The live stream of a conversation. EventSource resumes with Last-Event-ID; if the server closes it for good, reconnect from the last event.
const TYPES = [
  "message",
  "token",
  "tool_call",
  "block",
  "directives",
  "effect",
  "receipt",
  "turn",
  "waiting",
  "error",
  "reset",
  "done",
];
const FIRST_DELAY_MS = 1_000;
const LAST_DELAY_MS = 15_000;

export class Stream {
  /** Callbacks: `onEvent(type, data)`, `onLost()` on disconnect, `onOpen()` on connect. */
  constructor({ url, onEvent, onLost, onOpen }) {
    Object.assign(this, { url, onEvent, onLost, onOpen });
    this.delay = FIRST_DELAY_MS;
    this.lastId = null;
    this.connect();
  }

  connect() {
    const url = new URL(this.url, location.href);
    // The address may name an earlier event; the server takes one.
    if (this.lastId) url.searchParams.set("after", this.lastId);
    this.source = new EventSource(url);
    this.source.addEventListener("open", () => this.opened());
    for (const type of TYPES) this.source.addEventListener(type, (event) => this.received(type, event));
  }

  opened() {
    this.delay = FIRST_DELAY_MS;
    this.onOpen();
  }

  received(type, event) {
    // "error" is an event of ours (with data) and the browser's event for a broken connection.
    if (event.data === undefined) this.broken();
    else {
      this.lastId = event.lastEventId || this.lastId;
      this.onEvent(type, JSON.parse(event.data));
    }
  }

  broken() {
    this.onLost();
    if (this.source.readyState !== EventSource.CLOSED) return;
    this.timer = setTimeout(() => this.connect(), this.delay);
    this.delay = Math.min(this.delay * 2, LAST_DELAY_MS);
  }

  /** Connects anew after the last event: a connection may be cut without a word. */
  renew() {
    this.close();
    this.connect();
  }

  close() {
    clearTimeout(this.timer);
    this.source.close();
  }
}
