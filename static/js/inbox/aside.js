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

  /** True once the parts show what was read, now or by a later request; false if the page couldn't be read. */
  async refresh() {
    const request = read(location.href);
    const text = await this.page.of(request);
    if (text === null) return Boolean(await request.catch(() => null));
    const page = new DOMParser().parseFromString(text, "text/html");
    await new Promise((shown) => whenReleased(shown));
    this.parts.forEach((part) => replace(part, page.getElementById(part.id)));
    return true;
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
