// Keyboard navigation of ledgers: J and K move, Enter opens, Y and D answer the first question. Filters apply immediately.
import { gettext } from "./i18n.js";
import { offerKeys } from "./keys.js";

const find = document.getElementById("find");

function step(by) {
  // Queried each time, because live updates replace the rows.
  const rows = [...document.querySelectorAll("[data-row]")];
  const at = rows.indexOf(document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))]?.focus();
}

const answer = (key) => document.querySelector(`[data-key="${key}"]`)?.click();

// A single effect has no list.
if (find)
  offerKeys(["J K", gettext("Next, previous in the list"), { j: () => step(1), k: () => step(-1) }], ["↵", gettext("Open selected")]);
if (document.querySelector("[data-key]"))
  offerKeys(["Y D", gettext("It happened, it didn’t happen"), { y: () => answer("y"), d: () => answer("d") }]);

if (find) {
  find.querySelector("[data-noscript]").hidden = true;
  for (const control of find.querySelectorAll("select")) control.addEventListener("change", () => find.requestSubmit());
  // Leave empty parameters out of the URL.
  find.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
  });
}
