// Forms with `data-passkey`: ask the browser for a passkey and submit its answer with the form.
// On the sign-in page, the e-mail field also autofills passkeys.
import { h, icon } from "../dom.js";
import { askForKey, makeKey } from "./webauthn.js";
import { obstacle, reason } from "./passkey_words.js";

/** The challenge: in the page under the id in `data-passkey`, else fetched from the form's action together with the signed
 * state to post back. */
async function question(form, signal) {
  const { passkey } = form.dataset;
  if (passkey) return { options: JSON.parse(document.getElementById(passkey).textContent) };
  // The server answers with JSON only to this header.
  const answer = await fetch(form.action, { headers: { Accept: "application/json" }, signal });
  if (!answer.ok) throw Object.assign(new Error(), { name: answer.status === 429 ? "TooMany" : "NoAnswer" });
  const { request_options: options, question: put } = await answer.json();
  // Signed in from another tab: reloading redirects onward.
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

/** Autofills passkeys in the e-mail field until `signal` aborts. */
async function offer(form, signal) {
  if (obstacle() || !(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
  try {
    const { options, put } = await question(form, signal);
    send(form, { answer: await askForKey(options.publicKey, { mediation: "conditional", signal }), put });
  } catch {
    // Nothing was pressed, so no error is shown; the button reports problems.
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
    // Browsers allow one WebAuthn request at a time; wait until the previous one has ended.
    offered.abort();
    await offering;
    await proceed(form);
    if (!form.elements.credential.value) offerAnew();
  });
  const begin = () => {
    offered.abort();
    form.elements.credential.value = "";
    offerAnew();
  };
  begin();
  // After navigating back, the answer was already used.
  addEventListener("pageshow", ({ persisted }) => persisted && begin());
}

for (const form of document.querySelectorAll("form[data-passkey]")) bind(form);
// On setup pages, show obstacles right away.
for (const region of document.querySelectorAll("[data-obstacle]")) say(region, obstacle(), "warn");
