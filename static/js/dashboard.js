// The figures of a busy project are counted behind its page: the page is asked for again until they are in it.
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

/** Each part in its own place, so that nothing else on the page moves or loses the focus. */
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
  document.getElementById("counted").textContent = "Not counted. Load the page again";
  for (const part of awaited()) part.removeAttribute("aria-busy");
}

async function read(url) {
  const response = await fetch(url, { credentials: "same-origin" }).catch(() => null);
  if (response?.redirected) return location.reload();
  return response?.ok ? new DOMParser().parseFromString(await response.text(), "text/html") : null;
}

setTimeout(() => look(FIRST_MS), FIRST_MS);
