// A reply while it is written, put together from token events {attempt, offset, text}.
// Offsets count code points, as the server does; a JavaScript string would count an emoji as two.
import { now } from "./clock.js";

export class Draft {
  attempt = -1;
  text = "";
  length = 0;
  /** When its first words were seen here, in milliseconds: the turn itself says so only once the reply is complete. */
  firstAt = null;

  /** Takes one token; true when the text changed. A newer attempt or offset 0 replaces; a gap is ignored until the next snapshot. */
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
