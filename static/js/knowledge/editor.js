// The article editor: ⌘S saves, Esc leaves, unsaved changes warn.
import { watchChanges } from "../agent/form.js";
import { gettext } from "../i18n.js";
import { offerKeys } from "../keys.js";

const form = document.getElementById("form");
if (form) watchChanges(form);
document.getElementById("preview")?.scrollIntoView({ block: "start" });

offerKeys(["esc", gettext("Back to the articles")]);
document.addEventListener("keydown", (event) => {
  const isFree = !event.target.matches("input, textarea") && !document.querySelector(":popover-open");
  if (event.key === "Escape" && isFree) document.getElementById("back").click();
});
