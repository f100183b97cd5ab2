// The inbox's live stream: hints that the list has changed, and who is writing where. It is closed while the page is hidden, because
// a browser allows a server only a few connections.
const RETRY_MS = 60_000;

export class Hints {
  /** `isLive` is true while no hint is missed. Callbacks: `onChanged()`, also when it becomes live, and `onTyping(hint)`. */
  constructor({ url, onChanged, onTyping }) {
    Object.assign(this, { url, onChanged, onTyping });
    this.isLive = false;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.close() : this.open()));
    addEventListener("pagehide", () => this.close());
    if (!document.hidden) this.open();
  }

  open() {
    this.close();
    this.source = new EventSource(this.url);
    this.source.addEventListener("ready", () => this.ready());
    this.source.addEventListener("changed", () => this.onChanged());
    this.source.addEventListener("typing", ({ data }) => this.onTyping(JSON.parse(data)));
    this.source.addEventListener("error", () => this.broken());
  }

  ready() {
    this.isLive = true;
    this.onChanged();
  }

  /** The browser reconnects by itself, unless the server refused. */
  broken() {
    this.isLive = false;
    if (this.source.readyState === EventSource.CLOSED) this.timer = setTimeout(() => this.open(), RETRY_MS);
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.isLive = false;
  }
}
