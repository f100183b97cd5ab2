// The todo forms: keyboard shortcuts, and a resubmit when a choice changes the form.
import { gettext } from "../i18n.js";
import { offerKeys } from "../keys.js";

const form = document.getElementById("form");
const TYPING = "input, textarea, select";

for (const select of form.querySelectorAll("[data-chooses]")) {
  const button = form.querySelector("[data-choose]");
  button.hidden = true;
  select.addEventListener("change", () => form.requestSubmit(button));
}

for (const select of form.querySelectorAll("[data-kind]"))
  select.addEventListener("change", () => form.requestSubmit(form.querySelector("[value=look]")));

offerKeys(["⌘ S", gettext("Save")], ["esc", gettext("Leave without saving")]);
document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() === "s" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit(form.querySelector(".td-sure .btn-primary:not(:disabled)"));
  } else if (event.key === "Escape" && !event.target.matches(TYPING)) document.getElementById("back").click();
});
