// What the server wrote beside the transcript, brought up to date by asking for the page again.
const PAUSE_MS = 400;

export class Aside {
  constructor(parts) {
    this.parts = parts;
  }

  /** Soon, once: several events come with each turn. */
  refreshSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), PAUSE_MS);
  }

  async refresh() {
    const response = await fetch(location.href, { credentials: "same-origin" }).catch(() => null);
    if (!response?.ok) return;
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    for (const part of this.parts) {
      const fresh = page.getElementById(part.id);
      if (fresh && fresh.innerHTML !== part.innerHTML) part.replaceChildren(...fresh.childNodes);
    }
  }
}
