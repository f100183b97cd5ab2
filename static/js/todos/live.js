// Polls the change token every two seconds and refreshes the page when it changes.
import { hasEnded } from "../ended.js";

const EVERY_MS = 2_000;
// Refresh after this many polls even without a change, so that ages ("18 min") stay current.
const LOOKS_UNTIL_STALE = 30;

export class Live {
  /** `address()` is the URL to poll, if any; `stamp()` the token of what is shown; `refresh(stamp)` loads the current state. */
  constructor({ address, stamp, refresh }) {
    Object.assign(this, { address, stamp, refresh });
    this.looks = 0;
    document.addEventListener("visibilitychange", () => document.hidden || this.look());
    setInterval(() => document.hidden || this.look(), EVERY_MS);
  }

  async look() {
    const address = this.address();
    if (this.looking || !address) return;
    this.looking = true;
    try {
      const response = await fetch(address, { credentials: "same-origin" });
      if (response.ok && !hasEnded(response)) await this.compare(await response.text());
    } catch {
      // The next poll tries again.
    } finally {
      this.looking = false;
    }
  }

  async compare(stamp) {
    this.looks += 1;
    if (stamp === this.stamp() && this.looks < LOOKS_UNTIL_STALE) return;
    this.looks = 0;
    await this.refresh(stamp);
  }
}
