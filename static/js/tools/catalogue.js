// The list of tools: filtered as one types, J and K move, C makes a tool, / filters. On a phone it gives way to the chosen tool.
const TYPING = "input:not([type=checkbox]), textarea, select, [contenteditable]";
const filter = document.getElementById("filter");
const rows = [...document.querySelectorAll(".tl-list [data-row]")];

filter.addEventListener("input", () => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const row of rows) row.hidden = !words.every((word) => row.dataset.search.includes(word));
  for (const group of document.querySelectorAll("[data-group]"))
    group.hidden = !group.querySelector("[data-row]:not([hidden])");
  document.getElementById("filter-none").hidden = rows.some((row) => !row.hidden);
});

function step(by) {
  const shown = rows.filter((row) => !row.hidden);
  const at = shown.indexOf(document.activeElement);
  shown[Math.max(0, Math.min(shown.length - 1, at < 0 ? 0 : at + by))]?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest(TYPING)) return;
  if (document.querySelector("dialog[open], :popover-open")) return;
  const actions = {
    j: () => step(1),
    k: () => step(-1),
    "/": () => filter.select(),
    c: () => document.getElementById("new-tool")?.click(),
  };
  const action = actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

// A switch or a choice is taken at once; a form that removes something asks first.
for (const form of document.querySelectorAll("[data-submits]"))
  form.addEventListener("change", () => form.requestSubmit());
document.querySelector(".tl-list [aria-current]")?.scrollIntoView({ block: "nearest" });
