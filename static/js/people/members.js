import { bindCopying } from "./copying.js";
import { bindDialogs } from "./dialogs.js";

bindCopying();
bindDialogs();

// Selecting a role submits it; the button is for browsers without JavaScript.
for (const form of document.querySelectorAll("[data-submits]")) {
  form.querySelector("button").hidden = true;
  form.addEventListener("change", () => form.requestSubmit());
}
