// Forms with `data-passkey`: the browser asks for the passkey, and its answer goes out with the form.
import { h, icon } from "../dom.js";
import { askForKey, makeKey } from "./webauthn.js";
import { obstacle, reason } from "./passkey_words.js";

/** What the server asks: in the page under the id that `data-passkey` names, or else at the form's address. */
async function question(form) {
  const { passkey } = form.dataset;
  if (passkey) return JSON.parse(document.getElementById(passkey).textContent);
  // This very header makes the server answer with data.
  const answer = await fetch(form.action, { headers: { Accept: "application/json" } });
  if (!answer.ok) throw Object.assign(new Error(), { name: answer.status === 429 ? "TooMany" : "NoAnswer" });
  const { request_options: options } = await answer.json();
  // Somebody has signed in meanwhile, in another tab: this page, loaded again, leads on.
  if (!options) throw Object.assign(new Error(), { name: "NoAnswer" });
  return options;
}

async function answered(form) {
  const { publicKey } = await question(form);
  const alone = form.elements.passwordless;
  return alone ? makeKey(publicKey, { alone: alone.checked }) : askForKey(publicKey);
}

function say(region, words, tone = "bad") {
  const note = words && h("div", { class: "mg-note", "data-s": tone }, icon("alert-circle"), h("span", {}, words));
  region.replaceChildren(...(note ? [note] : []));
}

async function proceed(form) {
  const region = form.querySelector("[data-said]");
  const button = form.querySelector("button");
  const problem = obstacle();
  say(region, problem);
  if (problem) return;
  button.disabled = true;
  try {
    form.elements.credential.value = JSON.stringify(await answered(form));
  } catch (error) {
    say(region, reason(error, form.dataset));
  }
  button.disabled = false;
  if (form.elements.credential.value) form.requestSubmit();
}

function bind(form) {
  form.addEventListener("submit", (event) => {
    if (form.elements.credential.value) return;
    event.preventDefault();
    proceed(form);
  });
  // Back from the next page, the answer is used up.
  addEventListener("pageshow", () => {
    form.elements.credential.value = "";
  });
}

for (const form of document.querySelectorAll("form[data-passkey]")) bind(form);
// Where passkeys are set up, it is said before anybody tries.
for (const region of document.querySelectorAll("[data-obstacle]")) say(region, obstacle(), "warn");
