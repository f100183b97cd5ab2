// Polls the page and replaces a part of it when it has changed.
import { whenReleased } from "../dom.js";
import { Newest } from "../newest.js";

const EVERY_MS = 4_000;
const TOKEN = /name="csrfmiddlewaretoken" value="[^"]*"/g;

/** True if two parts are equal, ignoring CSRF tokens, which differ each time. */
export const isSame = (one, other) => one.innerHTML.replace(TOKEN, "") === other.innerHTML.replace(TOKEN, "");

/** Copies the notices with an Undo of a part into its replacement: the server renders a notice once. */
export function keepUndo(part, fresh) {
  const offers = [...part.querySelectorAll(".mg-note:has([data-undo])")];
  fresh.prepend(...offers.map((offer) => offer.cloneNode(true)));
}

export class Fresh {
  /** `part` is the element to keep current; the sidebar's counts are updated with it. */
  constructor(part) {
    this.parts = [`#${part.id}`, ".mg-nav"];
    this.page = new Newest();
    document.addEventListener("visibilitychange", () => document.hidden || this.look());
    setInterval(() => document.hidden || this.look(), EVERY_MS);
  }

  async look() {
    const text = await this.page.of(read(location.href));
    if (text === null) return;
    const page = new DOMParser().parseFromString(text, "text/html");
    whenReleased(() => this.parts.forEach((one) => swap(document.querySelector(one), page.querySelector(one))));
  }
}

/** Replaces a part unless the user has a control inside it focused. */
function swap(part, fresh) {
  if (!part || !fresh) return;
  keepUndo(part, fresh);
  if (isSame(fresh, part)) return;
  const held = part.contains(document.activeElement) ? document.activeElement : null;
  if (held?.matches("input, select, textarea, button")) return;
  const address = held?.getAttribute("href");
  part.replaceChildren(...fresh.childNodes);
  if (address) part.querySelector(`[href="${CSS.escape(address)}"]`)?.focus({ preventScroll: true });
}

async function read(url) {
  const response = await fetch(url, { credentials: "same-origin" });
  // A redirect means that the session has ended.
  return response.ok && !response.redirected ? response.text() : null;
}
