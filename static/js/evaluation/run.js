// Follows a run: fetches its part of the page again until the run is over.
import { isSame } from "../inbox/same.js";
import { whenReleased } from "../dom.js";
import { hasEnded } from "../ended.js";
import { Newest } from "../newest.js";

const EVERY_MS = 1_500;
const part = document.getElementById("run");
const start = document.getElementById("start");
const page = new Newest();

const isRunning = () => Boolean(part.querySelector("#run-state")?.dataset.running);

async function refresh() {
  const address = new URL(location.href);
  address.searchParams.set("part", "run");
  const response = await page.of(fetch(address));
  // A redirect means that the session has ended.
  if (!response?.ok || hasEnded(response)) return;
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html").body;
  if (isSame(part, fresh)) return;
  whenReleased(() => {
    const focused = part.contains(document.activeElement) && document.activeElement.closest("[data-case]")?.dataset.case;
    part.replaceChildren(...fresh.childNodes);
    if (focused) part.querySelector(`[data-case="${focused}"] button`)?.focus();
    if (start) start.disabled = isRunning();
  });
}

if (part && isRunning()) {
  const timer = setInterval(async () => {
    if (document.hidden) return;
    await refresh();
    if (!isRunning()) clearInterval(timer);
  }, EVERY_MS);
}
