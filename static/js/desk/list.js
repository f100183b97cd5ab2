// A list with keyboard navigation and live updates.
import { offerKeys } from "../keys.js";
import { Fresh } from "./fresh.js";

const live = document.getElementById("live");

function step(by) {
  const rows = [...live.querySelectorAll("[data-row]")];
  const at = rows.indexOf(document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))]?.focus();
}

offerKeys(["J K", "Next, previous row", { j: () => step(1), k: () => step(-1) }], ["↵", "Open"]);

new Fresh(live);
