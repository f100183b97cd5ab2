// The ledgers by keyboard: J and K move, Enter opens, Y and D answer the first question. A filter that changes is applied at once.
const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";
const find = document.getElementById("find");

function step(by) {
  // Looked for anew: what is live changes its rows.
  const rows = [...document.querySelectorAll("[data-row]")];
  const at = rows.indexOf(document.activeElement);
  rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))]?.focus();
}

const answer = (key) => document.querySelector(`[data-key="${key}"]`)?.click();

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.target.closest(TYPING)) return;
  const action = { j: () => step(1), k: () => step(-1), y: () => answer("y"), d: () => answer("d") }[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

if (find) {
  find.querySelector("[data-noscript]").hidden = true;
  for (const control of find.querySelectorAll("select")) control.addEventListener("change", () => find.requestSubmit());
  // Empty parameters stay out of the address.
  find.addEventListener("formdata", ({ formData }) => {
    for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
  });
}
