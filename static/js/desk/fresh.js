// What changes while one looks: the page is asked for again, and a part of it swapped where it is another.
import { whenReleased } from "../dom.js";
import { Newest } from "../newest.js";

const EVERY_MS = 4_000;
const TOKEN = /name="csrfmiddlewaretoken" value="[^"]*"/g;

/** Whether two parts show the same; a form's token is another each time. */
export const isSame = (one, other) => one.innerHTML.replace(TOKEN, "") === other.innerHTML.replace(TOKEN, "");

export class Fresh {
  /** `part` is the element that is kept; the counts of the side bar go with it. */
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

/** Nothing is swapped under a hand: not while something in it is typed or chosen. */
function swap(part, fresh) {
  if (!part || !fresh || isSame(fresh, part)) return;
  const held = part.contains(document.activeElement) ? document.activeElement : null;
  if (held?.matches("input, select, textarea, button")) return;
  const address = held?.getAttribute("href");
  part.replaceChildren(...fresh.childNodes);
  if (address) part.querySelector(`[href="${CSS.escape(address)}"]`)?.focus({ preventScroll: true });
}

async function read(url) {
  const response = await fetch(url, { credentials: "same-origin" });
  // Signed out meanwhile: the sign-in page answers instead.
  return response.ok && !response.redirected ? response.text() : null;
}
