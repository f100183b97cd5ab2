import { bindCopying } from "./copying.js";
import { bindDialogs } from "./dialogs.js";

bindCopying();
bindDialogs();

// A role is changed by choosing it; the button is there for a page without scripts.
for (const form of document.querySelectorAll("[data-submits]")) {
  form.querySelector("button").hidden = true;
  form.addEventListener("change", () => form.requestSubmit());
}
