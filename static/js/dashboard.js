// Metrics of a busy project are counted in the background; poll the page until they are there.
const FIRST_MS = 250;
const SLOWER = 1.5;
const LONGEST_MS = 3_000;
const GIVE_UP_MS = 120_000;

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
}

function giveUp() {
  document.getElementById("counted").textContent = "Couldn’t load. Reload the page.";
  for (const part of awaited()) part.removeAttribute("aria-busy");
}

async function read(url) {
  const response = await fetch(url, { credentials: "same-origin" }).catch(() => null);
  if (response?.redirected) return location.reload();
  return response?.ok ? new DOMParser().parseFromString(await response.text(), "text/html") : null;
}

setTimeout(() => look(FIRST_MS), FIRST_MS);
