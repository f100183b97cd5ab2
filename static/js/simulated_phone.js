// The simulated phone: sends what the customer types, and shows what arrives.
import { hasEnded } from "./ended.js";
import { fill as fillIn, gettext } from "./i18n.js";
import { Newest } from "./newest.js";
import { toaster } from "./toast.js";

const EVERY_MS = 1_500;
const main = document.getElementById("main");
const phones = document.getElementById("phones");
const told = document.getElementById("told");
const toast = toaster(document.getElementById("toasts"));
const newest = new Newest();

/** The channels that the customer looks at: on a narrow screen, one of them. */
const seen = () =>
  document.hidden ? "" : [...phones.children].filter((phone) => phone.offsetParent).map((phone) => phone.dataset.kind).join();

async function load(request) {
  const response = await request;
  if (hasEnded(response)) return null;
  if (!response.ok) throw new Error(String(response.status));
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

async function look() {
  const address = `${main.dataset.part}&seen=${seen()}`;
  const page = await newest.of(load(fetch(address, { credentials: "same-origin" })));
  if (page) show(page);
}

function show(page) {
  for (const fresh of page.querySelectorAll(".ph-live")) update(document.getElementById(fresh.id), fresh);
  const words = page.getElementById("told");
  if (words?.children.length) told.replaceChildren(...words.childNodes);
}

/** The markup without the form's token, which differs each time. */
const bare = (element) => element.innerHTML.replace(/<input[^>]*csrfmiddlewaretoken[^>]*>/g, "");

function update(shown, fresh) {
  const [log, next] = [shown, fresh].map((one) => one.querySelector(".ph-log"));
  if (!log || !next) {
    if (bare(shown) !== bare(fresh)) shown.replaceChildren(...fresh.childNodes);
    return;
  }
  for (const name of [".ph-bar", ".ph-reach"]) replace(shown.querySelector(name), fresh.querySelector(name));
  fill(log, next);
}

function replace(shown, fresh) {
  if (!shown || !fresh || bare(shown) === bare(fresh)) return;
  const hadFocus = shown.contains(document.activeElement);
  shown.replaceWith(fresh);
  if (hadFocus) fresh.querySelector("button")?.focus();
}

/** Adds new bubbles, and updates the others in place. The log stays at its end unless the reader scrolled up. */
function fill(log, next) {
  const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 40;
  const known = new Map([...log.children].map((row) => [row.dataset.id, row]));
  for (const row of [...next.children]) {
    const old = known.get(row.dataset.id);
    known.delete(row.dataset.id);
    if (!old) log.append(row);
    else if (bare(old) !== bare(row)) old.replaceChildren(...row.childNodes);
  }
  for (const gone of known.values()) gone.remove();
  if (isAtEnd) log.scrollTop = log.scrollHeight;
}

async function act(form, submitter) {
  if (form.matches("[data-write]") && !form.elements.text.value.trim() && !form.elements.file.files.length) return;
  const body = new FormData(form, submitter);
  body.set("part", "1");
  body.set("seen", seen());
  newest.outdate();
  told.replaceChildren();
  const button = submitter ?? form.querySelector("button");
  button.disabled = true;
  try {
    const page = await load(fetch(form.action, { method: "POST", body, credentials: "same-origin" }));
    if (!page) return;
    show(page);
    if (form.matches("[data-write]")) clear(form);
  } catch {
    toast.error(gettext("The server didn’t take it. Try again."));
  } finally {
    button.disabled = false;
    if (form.matches("[data-write]")) form.elements.text.focus();
  }
}

function clear(form) {
  form.reset();
  name(form);
}

/** Names the chosen file in the field, whose words are then its caption. */
function name(form) {
  const [file] = form.elements.file.files;
  form.elements.text.placeholder = file ? fillIn(gettext("%(name)s, with a caption?"), { name: file.name }) : gettext("Message");
}

/** Scrolls the chats in view to their end; one that is hidden can't be scrolled. */
function toEnd() {
  for (const log of document.querySelectorAll(".ph-log")) log.scrollTop = log.scrollHeight;
}

phones.addEventListener("change", ({ target }) => target.matches("[type=file]") && name(target.form));
phones.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-write], [data-act]")) return;
  event.preventDefault();
  act(event.target, event.submitter);
});
for (const form of document.querySelectorAll("[data-submits]")) form.addEventListener("change", () => form.requestSubmit());
for (const button of document.querySelectorAll("#views button")) {
  button.addEventListener("click", () => {
    phones.dataset.view = button.value;
    for (const one of button.parentElement.children) one.setAttribute("aria-pressed", String(one === button));
    toEnd();
    look();
  });
}
toEnd();
document.addEventListener("visibilitychange", () => document.hidden || look());
setInterval(() => document.hidden || look(), EVERY_MS);
