// Forms with `data-passkey`: the browser asks for the passkey, and its answer goes out with the form.
// Where the form's address puts the question, the field of the e-mail offers the passkeys that this browser knows as well.
import { h, icon } from "../dom.js";
import { askForKey, makeKey } from "./webauthn.js";
import { obstacle, reason } from "./passkey_words.js";

/** What the server asks: in the page under the id that `data-passkey` names, or else at the form's address, which gives it
 * along to come back with the answer. */
async function question(form, signal) {
  const { passkey } = form.dataset;
  if (passkey) return { options: JSON.parse(document.getElementById(passkey).textContent) };
  // This very header makes the server answer with data.
  const answer = await fetch(form.action, { headers: { Accept: "application/json" }, signal });
  if (!answer.ok) throw Object.assign(new Error(), { name: answer.status === 429 ? "TooMany" : "NoAnswer" });
  const { request_options: options, question: put } = await answer.json();
  // Somebody has signed in meanwhile, in another tab: this page, loaded again, leads on.
  if (!options) throw Object.assign(new Error(), { name: "NoAnswer" });
  return { options, put };
}

async function answered(form) {
  const { options, put } = await question(form);
  const alone = form.elements.passwordless;
  const ask = alone ? makeKey(options.publicKey, { alone: alone.checked }) : askForKey(options.publicKey);
  return { answer: await ask, put };
}

function send(form, { answer, put }) {
  if (put) form.elements.question.value = put;
  form.elements.credential.value = JSON.stringify(answer);
  form.requestSubmit();
}

/** Let the field of the e-mail offer passkeys, until `signal`. */
async function offer(form, signal) {
  if (obstacle() || !(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
  try {
    const { options, put } = await question(form, signal);
    send(form, { answer: await askForKey(options.publicKey, { mediation: "conditional", signal }), put });
  } catch {
    // Nobody pressed anything, so nothing is said: the button says what stands in the way.
  }
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
    send(form, await answered(form));
  } catch (error) {
    say(region, reason(error, form.dataset));
  }
  button.disabled = false;
}

function bind(form) {
  let offered = new AbortController();
  let offering = null;
  const offerAnew = () => {
    if (form.dataset.passkey) return;
    offered = new AbortController();
    offering = offer(form, offered.signal);
  };
  form.addEventListener("submit", async (event) => {
    if (form.elements.credential.value) return;
    event.preventDefault();
    // The browser puts one question at a time, and refuses the next until the one before it has come to its end.
    offered.abort();
    await offering;
    await proceed(form);
    if (!form.elements.credential.value) offerAnew();
  });
  // Also back from the next page, where the answer was used up.
  addEventListener("pageshow", () => {
    offered.abort();
    form.elements.credential.value = "";
    offerAnew();
  });
}

for (const form of document.querySelectorAll("form[data-passkey]")) bind(form);
// Where passkeys are set up, it is said before anybody tries.
for (const region of document.querySelectorAll("[data-obstacle]")) say(region, obstacle(), "warn");
