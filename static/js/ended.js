// A session that ended while a page was open: the page stays as it is, with what is typed in it, says so, and goes on after
// the next sign-in, in another tab.

const note = document.getElementById("ended");
const [ended, lost] = ["ended", "lost"].map((name) => note?.querySelector(`[data-${name}]`));
/** The sentence of a request that needs a session; undefined on a page without the note. */
export const signedOut = ended?.querySelector("b").textContent;
const TYPED = "input:not([type=hidden], [type=checkbox], [type=radio], [type=submit]), textarea";

// Below the top bar, where it scrolls away with nothing.
if (note) document.querySelector("#main > .mg-top")?.after(note);

/** Whether an answer came from the sign-in in place of what was asked for. Shows the note then. */
export function hasEnded(response) {
  if (!response?.redirected || new URL(response.url).pathname !== note?.dataset.login) return false;
  show(ended);
  return true;
}

/** Asks the server. Returns its answer, null without one; shows or hides the note. */
export async function ask() {
  const response = note && (await fetch(note.dataset.news, { credentials: "same-origin" }).catch(() => null));
  if (hasEnded(response)) return null;
  if (response?.ok) await goOn();
  return response;
}

function show(words) {
  note.hidden = false;
  ended.hidden = words !== ended;
  lost.hidden = words !== lost;
}

/** After the next sign-in the forms need its tokens. */
async function goOn() {
  if (note.hidden) return;
  if (!ended.hidden) await renewTokens();
  note.hidden = true;
}

async function renewTokens() {
  const response = await fetch(location.href, { credentials: "same-origin" }).catch(() => null);
  const page = response?.ok && new DOMParser().parseFromString(await response.text(), "text/html");
  const token = page && page.querySelector("meta[name=csrf-token]")?.content;
  if (!token) return;
  document.querySelector("meta[name=csrf-token]").content = token;
  for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = token;
}

const holdsWords = (form) => [...form.elements].some((field) => field.matches(TYPED) && field.value !== field.defaultValue);

/** A form with typed words leaves the page only once it is sure that the server takes it. */
async function guard(event) {
  const { target: form, submitter } = event;
  if (event.defaultPrevented || form.method !== "post" || form.target || form.dataset.sure || !holdsWords(form)) return;
  event.preventDefault();
  delete form.dataset.sent;
  const response = await ask();
  if (response?.ok) {
    form.dataset.sure = "yes";
    form.requestSubmit(submitter);
    delete form.dataset.sure;
  } else {
    if (!response && note.hidden) show(lost);
    // Its words aren't saved: leaving the page is asked about again.
    form.dispatchEvent(new Event("input"));
  }
}

if (note) {
  document.addEventListener("submit", guard);
  document.addEventListener("visibilitychange", () => document.hidden || note.hidden || ask());
  addEventListener("focus", () => note.hidden || ask());
}
