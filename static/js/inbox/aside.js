// Server-rendered parts next to the transcript, refreshed by fetching the page again.
import { whenReleased } from "../dom.js";
import { isSame, keepUndo } from "./same.js";
import { Newest } from "../newest.js";

const PAUSE_MS = 400;

export class Aside {
  constructor(parts) {
    this.parts = parts;
    this.page = new Newest();
  }

  /** Debounced, because each turn sends several events. */
  refreshSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), PAUSE_MS);
  }

  async refresh() {
    const text = await this.page.of(read(location.href));
    if (text === null) return;
    const page = new DOMParser().parseFromString(text, "text/html");
    whenReleased(() => this.parts.forEach((part) => replace(part, page.getElementById(part.id))));
  }
}

async function read(url) {
  const response = await fetch(url, { credentials: "same-origin" });
  return response.ok ? response.text() : null;
}

function replace(part, fresh) {
  // Somebody is choosing in an open menu.
  if (!fresh || part.matches(":popover-open")) return;
  keepUndo(part, fresh);
  if (!isSame(fresh, part)) part.replaceChildren(...fresh.childNodes);
}
