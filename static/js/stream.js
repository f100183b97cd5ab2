// The live stream of one conversation. EventSource resumes by itself with Last-Event-ID; when the server ends it for good, we ask anew from the last event on.
const TYPES = [
  "message",
  "token",
  "tool_call",
  "block",
  "directives",
  "effect",
  "turn",
  "waiting",
  "error",
  "reset",
  "done",
];
const FIRST_DELAY_MS = 1_000;
const LAST_DELAY_MS = 15_000;

export class Stream {
  /** `onEvent(type, data)`; `onLost()` and `onOpen()` as the connection breaks and stands again. */
  constructor({ url, onEvent, onLost, onOpen }) {
    Object.assign(this, { url, onEvent, onLost, onOpen });
    this.delay = FIRST_DELAY_MS;
    this.lastId = null;
    this.connect();
  }

  connect() {
    this.source = new EventSource(this.lastId ? `${this.url}&after=${this.lastId}` : this.url);
    this.source.addEventListener("open", () => this.opened());
    for (const type of TYPES) this.source.addEventListener(type, (event) => this.received(type, event));
  }

  opened() {
    this.delay = FIRST_DELAY_MS;
    this.onOpen();
  }

  received(type, event) {
    // "error" is both an event of ours, with data, and the browser's own word for a broken connection.
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

  close() {
    clearTimeout(this.timer);
    this.source.close();
  }
}
