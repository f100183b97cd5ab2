// The editor of an article: ⌘S saves, Esc leaves, and what was typed isn't lost without a warning.
import { watchChanges } from "../agent/form.js";
import { offerKeys } from "../keys.js";

const form = document.getElementById("form");
if (form) watchChanges(form);
document.getElementById("preview")?.scrollIntoView({ block: "start" });

offerKeys(["esc", "Back to the articles"]);
document.addEventListener("keydown", (event) => {
  const isFree = !event.target.matches("input, textarea") && !document.querySelector(":popover-open");
  if (event.key === "Escape" && isFree) document.getElementById("back").click();
});
