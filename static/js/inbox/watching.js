// The session of a conversation's page: like the playground's, but without loading every turn in detail.
import { Session } from "../session.js";
import { Stream } from "../stream.js";

// The newest replies are loaded in detail, so that their promises are marked.
const MARKED = 30;

export class Watching extends Session {
  /** `after` is the last event included in the page; `onNews()` is called when a part next to the transcript may have changed. */
  constructor({ api, store, after, onNews }) {
    super({ api, store });
    this.after = after;
    this.onNews = onNews;
  }

  detailed(turns) {
    return turns.slice(-MARKED);
  }

  /** Starts after the last event included in the page; earlier ones are in the transcript. */
  listen() {
    this.stream?.close();
    this.stream = new Stream({
      url: `${this.api.streamUrl(`/conversations/${this.id}/events`)}&after=${this.after}`,
      onEvent: (type, data) => this.received(type, data),
      onLost: () => this.connection(false),
      onOpen: () => this.connection(true),
    });
  }

  received(type, data) {
    super.received(type, data);
    const isOthers = type === "message" && data.role !== "agent";
    if (isOthers || type === "directives" || type === "effect" || (type === "turn" && data.lane)) this.onNews();
  }
}
