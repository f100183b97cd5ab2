// The list: moving through it, selecting rows, and keeping it current.
import { isSame } from "./same.js";
import { whenReleased } from "../dom.js";
import { hasEnded } from "../ended.js";
import { numbered } from "../format.js";
import { ngettext } from "../i18n.js";
import { Newest } from "../newest.js";
import * as storage from "../storage.js";

// How often the list is read without hints, and with them: some reasons come with time alone.
const EVERY_MS = 4_000;
const SELDOM_MS = 30_000;
const PAUSE_MS = 300;
const TIMEOUT_MS = 15_000;
// A single failure is often that of a page being left.
const LOST_AFTER = 2;
const SCROLLED = "mg-inbox-scroll";

export class List {
  /** `part` is replaced when it changes; `bulk` is the bar for the selected rows, if the member may change anything. */
  constructor({ part, bulk }) {
    Object.assign(this, { part, bulk });
    this.picked = new Set();
    this.lastEvent = part.querySelector("[data-last-event]").dataset.lastEvent;
    /** Called when something was written to the log of the opened conversation. */
    this.onOpenedChanged = () => {};
    /** Called while the server doesn't answer, and once it does again. */
    this.onLost = () => {};
    this.onBack = () => {};
    this.failures = 0;
    this.page = new Newest();
    /** Hints of the live stream, once there are some. */
    this.hints = { isLive: false };
    this.readAt = performance.now();
    part.addEventListener("change", ({ target }) => target.matches("[data-pick]") && this.pick(target.value, target.checked));
    this.keepPlace();
    document.addEventListener("visibilitychange", () => document.hidden || this.refresh());
    setInterval(() => this.isDue && this.refresh(), EVERY_MS);
  }

  get isDue() {
    if (document.hidden || this.isReading) return false;
    return !this.hints.isLive || this.failures > 0 || performance.now() - this.readAt >= SELDOM_MS;
  }

  get rows() {
    return [...this.part.querySelectorAll("[data-row]")];
  }

  step(by) {
    const rows = this.rows;
    const focused = rows.indexOf(document.activeElement);
    const at = focused < 0 ? rows.findIndex((row) => row.ariaCurrent === "true") : focused;
    rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))]?.focus();
  }

  /** Focuses the row of a conversation, if it is listed. */
  focus(id) {
    if (id) this.rows.find((row) => row.href.includes(id))?.focus({ preventScroll: true });
  }

  /** Selects the focused row, or else the opened conversation's. */
  pickFocused() {
    const row = document.activeElement.closest?.(".ib-row") ?? this.part.querySelector(".ib-row.sel");
    const box = row?.querySelector("[data-pick]");
    if (box) this.pick(box.value, !box.checked);
  }

  pick(id, isPicked) {
    this.picked[isPicked ? "add" : "delete"](id);
    this.showPicked();
  }

  clear() {
    this.picked.clear();
    this.showPicked();
  }

  showPicked() {
    for (const box of this.part.querySelectorAll("[data-pick]")) {
      box.checked = this.picked.has(box.value);
      box.closest(".ib-row").classList.toggle("picked", box.checked);
    }
    if (!this.bulk) return;
    this.bulk.hidden = this.picked.size === 0;
    this.part.parentElement.classList.toggle("picking", !this.bulk.hidden);
    this.bulk.querySelector("[data-count]").textContent = numbered(ngettext("%(number)s conversation selected", "%(number)s conversations selected", this.picked.size), this.picked.size);
  }

  /** Debounced, because one message causes several events. */
  refreshSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.refresh(), PAUSE_MS);
  }

  async refresh() {
    this.readAt = performance.now();
    const text = await this.page.of(this.read());
    if (text === null) return;
    const fresh = new DOMParser().parseFromString(`<div>${text}</div>`, "text/html").body.firstElementChild;
    whenReleased(() => this.swap(fresh));
  }

  async read() {
    const url = new URL(location.href);
    // A search is not repeated.
    if (url.searchParams.has("q")) return null;
    url.searchParams.set("part", "list");
    this.isReading = true;
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(url, { credentials: "same-origin", signal }).catch(() => null);
    this.isReading = false;
    this.heard(response !== null && response.status < 500);
    return response?.ok && !hasEnded(response) ? response.text() : null;
  }

  heard(isAnswer) {
    const wasLost = this.failures >= LOST_AFTER;
    this.failures = isAnswer ? 0 : this.failures + 1;
    if (this.failures >= LOST_AFTER) this.onLost();
    else if (wasLost) this.onBack();
  }

  swap(fresh) {
    const { sideCount, lastEvent } = fresh.querySelector("[data-side-count]").dataset;
    this.count(sideCount);
    if (lastEvent !== this.lastEvent) this.onOpenedChanged();
    this.lastEvent = lastEvent;
    if (isSame(fresh, this.part)) return;
    const held = this.part.contains(document.activeElement) ? document.activeElement : null;
    const address = held?.getAttribute("href");
    const picked = held?.matches("[data-pick]") && held.value;
    this.part.replaceChildren(...fresh.childNodes);
    if (address) this.part.querySelector(`[href="${CSS.escape(address)}"]`)?.focus({ preventScroll: true });
    if (picked) this.part.querySelector(`[data-pick][value="${picked}"]`)?.focus({ preventScroll: true });
    this.showPicked();
  }

  /** The number beside “Inbox” in the sidebar. */
  count(number) {
    const link = document.querySelector(".mg-nav a[data-page=inbox]");
    const badge = link?.querySelector(".mg-n");
    if (badge?.firstChild) badge.firstChild.data = number;
    if (!badge) return;
    badge.title = badge.title.replace(/\d[\d.,]*\+?/, number);
    badge.hidden = number === "0";
  }

  /** The scroll position survives opening a row. */
  keepPlace() {
    let scrolled = Number(storage.read("sessionStorage", SCROLLED));
    // With the first frame, whose layout these need.
    requestAnimationFrame(() => {
      this.part.scrollTop = scrolled;
      this.part.querySelector(".sel")?.scrollIntoView({ block: "nearest" });
    });
    // Read as it changes: when the page is left, reading would lay it out once more.
    this.part.addEventListener("scroll", () => (scrolled = this.part.scrollTop), { passive: true });
    addEventListener("pagehide", () => storage.write("sessionStorage", SCROLLED, scrolled));
  }
}
