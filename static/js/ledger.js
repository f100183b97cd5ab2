// The ledgers by keyboard: J and K move, Enter opens, Y and D answer the first question. A filter that changes is applied at once.
import { offerKeys } from "./keys.js";

const find = document.getElementById("find");

function step(by) {
  // Looked for anew: what is live changes its rows.
  const rows = [...document.querySelectorAll("[data-row]")];
  const at = rows.indexOf(document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))]?.focus();
}

const answer = (key) => document.querySelector(`[data-key="${key}"]`)?.click();

// One effect by itself has no list.
if (find)
  offerKeys(["J K", "Next in the list, the one before", { j: () => step(1), k: () => step(-1) }], ["↵", "Open"]);
if (document.querySelector("[data-key]"))
  offerKeys(["Y D", "Did it happen? Yes, or it did not", { y: () => answer("y"), d: () => answer("d") }]);

if (find) {
  find.querySelector("[data-noscript]").hidden = true;
  for (const control of find.querySelectorAll("select")) control.addEventListener("change", () => find.requestSubmit());
  // Empty parameters stay out of the address.
  find.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
  });
}
