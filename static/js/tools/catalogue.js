// The tool list: filter and keyboard navigation.
import { gettext } from "../i18n.js";
import { offerKeys } from "../keys.js";

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

const fresh = document.getElementById("new-tool");
offerKeys(
  ["J K", gettext("Next, previous tool"), { j: () => step(1), k: () => step(-1) }],
  ["↵", gettext("Open selected")],
  ["/", gettext("Filter"), { "/": () => filter.select() }],
  ...(fresh ? [["C", gettext("New custom tool"), { c: () => fresh.click() }]] : []),
);

// Switches and selects are submitted at once; forms with data-confirms ask first.
for (const form of document.querySelectorAll("[data-submits]"))
  form.addEventListener("change", () => form.requestSubmit());
document.querySelector(".tl-list [aria-current]")?.scrollIntoView({ block: "nearest" });
