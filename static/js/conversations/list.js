// The list of conversations: keyboard navigation, instant filters and live updates.
import { Fresh } from "../desk/fresh.js";
import { offerKeys } from "../keys.js";
import { searchFurther } from "./further.js";

const live = document.getElementById("live");

function step(by) {
  const rows = [...live.querySelectorAll("[data-row]")];
  const at = rows.indexOf(document.activeElement);
  const next = rows[Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by))];
  next?.focus();
}

offerKeys(
  ["J K", "Next, previous conversation", { j: () => step(1), k: () => step(-1) }],
  ["↵", "Open"],
  ["/", "Search", { "/": () => document.getElementById("q")?.select() }],
);

live.addEventListener("change", ({ target }) => {
  if (target.matches("#find select, #find [type=checkbox]")) target.form.requestSubmit();
});

// Leave empty parameters out of the URL.
live.addEventListener("formdata", ({ formData }) => {
  for (const [name, value] of [...formData]) if (value === "") formData.delete(name);
});

const none = document.getElementById("none");
searchFurther(none);
// Search results are not updated live.
if (!new URLSearchParams(location.search).has("q")) new Fresh(live);
