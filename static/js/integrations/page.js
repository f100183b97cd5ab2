// Integrations: dialogs, copying of a new secret, and tests without leaving the page.
import { h, icon } from "../dom.js";
import { gettext } from "../i18n.js";
import { bindCopying } from "../people/copying.js";
import { bindDialogs } from "../people/dialogs.js";

bindDialogs();
bindCopying();
for (const form of document.querySelectorAll("[data-trial]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    sendTest(form);
  });
}
document.querySelector("[aria-invalid=true]")?.focus();

async function sendTest(form) {
  const place = document.getElementById(form.dataset.trial);
  const button = form.querySelector("button");
  button.disabled = true;
  place.replaceChildren(h("p", { class: "mg-st", "data-s": "act" }, icon("loader-2"), form.dataset.busy));
  try {
    const body = new FormData(form);
    const answer = await fetch(form.action, { method: "POST", headers: { Accept: "application/json" }, body });
    if (!answer.ok) throw new Error(String(answer.status));
    const { ok, sentence } = await answer.json();
    show(place, ok, sentence);
  } catch {
    show(place, false, gettext("No response from the server. Check whether the message arrived before you try again."));
  } finally {
    button.disabled = false;
  }
}

function show(place, ok, sentence) {
  const sign = icon(ok ? "circle-check" : "alert-circle");
  place.replaceChildren(h("div", { class: "mg-note ag-note", "data-s": ok ? "ok" : "bad" }, sign, h("div", {}, sentence)));
}
