// A list by keyboard: J and K move, Enter opens. It changes while one looks.
import { Fresh } from "./fresh.js";

const live = document.getElementById("live");

function step(by) {
  const rows = [...live.querySelectorAll("[data-row]")];
  const at = rows.indexOf(document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea, select")) return;
  const by = { j: 1, k: -1 }[event.key];
  if (!by) return;
  event.preventDefault();
  step(by);
});

new Fresh(live);
