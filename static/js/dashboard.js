// Figures of a busy project are counted in the background; poll the page until they are there. What waits and what happened
// just now is read again by itself.
import { prepareCharts } from "./charts.js";
import { whenReleased } from "./dom.js";
import { hasEnded } from "./ended.js";
import { gettext } from "./i18n.js";
import { isSame } from "./inbox/same.js";
import { Newest } from "./newest.js";

const FIRST_MS = 250;
const SLOWER = 1.5;
const LONGEST_MS = 3_000;
const GIVE_UP_MS = 120_000;
const LIVE_MS = 8_000;
const LIVE = ["needs-you", "just-now"];

const awaited = () => [...document.querySelectorAll("#main [aria-busy]")];
const since = performance.now();

async function look(wait) {
  const page = await read(location.href);
  if (page) show(page);
  if (!awaited().length) return;
  if (performance.now() - since > GIVE_UP_MS) return giveUp();
  setTimeout(() => look(Math.min(wait * SLOWER, LONGEST_MS)), wait);
}

/** Replaces only the pending parts, so that the rest keeps its layout and focus. */
function show(page) {
  for (const part of awaited()) {
    const fresh = page.getElementById(part.id);
    if (!fresh) return location.reload();
    if (fresh.hasAttribute("aria-busy")) return;
    part.style.minHeight = `${part.getBoundingClientRect().height}px`;
    part.replaceChildren(...fresh.childNodes);
    part.removeAttribute("aria-busy");
  }
  prepareCharts();
}

function giveUp() {
  document.getElementById("counted").textContent = gettext("Couldn’t load. Reload the page.");
  for (const part of awaited()) part.removeAttribute("aria-busy");
}

async function read(url) {
  const response = await fetch(url, { credentials: "same-origin" }).catch(() => null);
  return response?.ok && !hasEnded(response) ? new DOMParser().parseFromString(await response.text(), "text/html") : null;
}

// What waits for us, and what happened just now

const live = new Newest();

async function refresh() {
  if (document.hidden) return;
  const url = new URL(location.href);
  url.searchParams.set("part", "live");
  const page = await live.of(read(url));
  if (page) whenReleased(() => LIVE.forEach((id) => swap(id, page)));
}

function swap(id, page) {
  const part = document.getElementById(id);
  const fresh = page.getElementById(id);
  if (!part || !fresh || isSame(part, fresh)) return;
  const address = part.contains(document.activeElement) && document.activeElement.getAttribute("href");
  part.replaceChildren(...fresh.childNodes);
  if (address) part.querySelector(`[href="${CSS.escape(address)}"]`)?.focus({ preventScroll: true });
  if (fresh.dataset.count) count(fresh.dataset.count);
}

/** The number beside “Inbox” in the sidebar. */
function count(number) {
  const badge = document.querySelector(".mg-nav a[data-page=inbox] .mg-n");
  if (badge?.firstChild) badge.firstChild.data = number;
  if (badge) badge.hidden = number === "0";
}

if (awaited().length) setTimeout(() => look(FIRST_MS), FIRST_MS);
if (document.getElementById("needs-you")) {
  setInterval(refresh, LIVE_MS);
  document.addEventListener("visibilitychange", refresh);
}
