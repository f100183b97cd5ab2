// Figures of a busy project are counted in the background; poll the page until they are there.
import { prepareCharts } from "./charts.js";
import { hasEnded } from "./ended.js";

const FIRST_MS = 250;
const SLOWER = 1.5;
const LONGEST_MS = 3_000;

async function look(wait) {
  const report = document.getElementById("report");
  const response = await fetch(location.href, { credentials: "same-origin" }).catch(() => null);
  const page = response?.ok && !hasEnded(response) && new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page && page.getElementById("report");
  if (fresh && !fresh.hasAttribute("aria-busy")) {
    report.replaceChildren(...fresh.childNodes);
    report.removeAttribute("aria-busy");
    return prepareCharts();
  }
  setTimeout(() => look(Math.min(wait * SLOWER, LONGEST_MS)), wait);
}

// A browser then refuses a range of the wrong order beside its field.
document.addEventListener("input", ({ target }) => {
  if (target.id === "since") document.getElementById("until").min = target.value;
});

if (document.querySelector("#report[aria-busy]")) setTimeout(() => look(FIRST_MS), FIRST_MS);
