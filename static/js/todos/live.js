// What changes while one looks: asks every two seconds whether anything did, and has the page brought up to date.
const EVERY_MS = 2_000;
// Ages ("18 min") move on by themselves after so many looks.
const LOOKS_UNTIL_STALE = 30;

export class Live {
  /** `address()`, while there is one to ask, and `stamp()` of what is shown; `refresh(stamp)` shows what is there now. */
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
      // Signed out meanwhile: the sign-in page answers instead.
      if (response.redirected) location.reload();
      else if (response.ok) await this.compare(await response.text());
    } catch {
      // The next look tries again.
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
