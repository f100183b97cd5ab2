// The model test: tries the unsaved settings without leaving the page.
import { h, icon } from "../dom.js";
import { gettext } from "../i18n.js";

export function tryModels(form) {
  form.addEventListener("submit", (event) => {
    if (!("test" in (event.submitter?.dataset ?? {}))) return;
    event.preventDefault();
    tryModel(form, event.submitter);
  });
}

async function tryModel(form, button) {
  const place = document.getElementById("trial");
  button.disabled = true;
  place.replaceChildren(h("p", { class: "mg-st", "data-s": "act" }, icon("loader-2"), gettext("Testing…")));
  try {
    const body = new FormData(form);
    const pairs = JSON.parse(body.get("entries") ?? "[]");
    body.set("entries", JSON.stringify([...pairs, ["test", button.value]]));
    const answer = await fetch(button.formAction, { method: "POST", headers: { Accept: "application/json" }, body });
    // A 429 carries a message, too.
    if (!answer.ok && answer.status !== 429) throw new Error(String(answer.status));
    const { ok, sentence } = await answer.json();
    show(place, ok, sentence);
  } catch {
    show(place, false, gettext("No response from the server. Try again."));
  } finally {
    button.disabled = false;
  }
}

function show(place, ok, sentence) {
  const tone = ok ? "ok" : "bad";
  const sign = icon(ok ? "circle-check" : "alert-circle");
  place.replaceChildren(h("div", { class: "mg-note", "data-s": tone }, sign, h("div", {}, sentence)));
}
