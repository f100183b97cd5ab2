// The list by keyboard: J and K move, Enter opens, / searches. A filter that changes is applied at once.
import { searchFurther } from "./further.js";

const find = document.getElementById("find");
const search = document.getElementById("q");
const rows = [...document.querySelectorAll("[data-row]")];

function step(by) {
  const at = rows.indexOf(document.activeElement);
  const next = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))];
  next?.focus();
}

const isTyping = (target) => target.closest("input:not([type=checkbox]), textarea, select, [contenteditable]");

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
  const action = { j: () => step(1), k: () => step(-1), "/": () => search.select() }[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

for (const control of find.querySelectorAll("select, [type=checkbox]"))
  control.addEventListener("change", () => find.requestSubmit());

// Empty parameters stay out of the address.
find.addEventListener("formdata", ({ formData }) => {
  for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
});

searchFurther(document.getElementById("none"));
