// A streaming reply, assembled from token events {attempt, offset, text}.
// Offsets are code points, as on the server; a JavaScript string counts an emoji as two units.
import { now } from "./clock.js";

export class Draft {
  attempt = -1;
  text = "";
  length = 0;
  /** When the first token arrived here, in milliseconds. The turn has its own time only once the reply is complete. */
  firstAt = null;

  /** Applies a token; true if the text changed. A newer attempt or offset 0 replaces the text; gaps wait for the next snapshot. */
  take({ attempt, offset, text }) {
    if (attempt < this.attempt) return false;
    if (attempt > this.attempt || offset === 0) this.clear(attempt);
    if (offset > this.length) return false;
    const fresh = [...text].slice(this.length - offset);
    this.firstAt ??= now();
    this.text += fresh.join("");
    this.length += fresh.length;
    return true;
  }

  clear(attempt) {
    this.attempt = attempt;
    this.text = "";
    this.length = 0;
  }
}
