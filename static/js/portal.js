// The customer's chat on their page: what they write goes out at once, the reply is read as it is written. Without this script
// the form still sends, and the page shows the reply when it is loaded again.
import { h, icon } from "./dom.js";
import { Limit } from "./limit.js";

const log = document.getElementById("log");
const form = document.getElementById("form");
const field = form.elements.content;
const why = document.getElementById("why");
const limit = new Limit(field, { after: form });
const proof = document.querySelector("[data-proof]");
const booked = document.getElementById("booked");

/** What stands beside the words, as the page shows it when it is loaded. */
const CARDS = {
  article_card: ({ title, excerpt, url }) =>
    h(
      /^https?:/.test(url ?? "") ? "a" : "div",
      { class: "po-in", href: /^https?:/.test(url ?? "") ? url : null },
      h("b", {}, title),
      h("small", { dir: "auto" }, excerpt),
    ),
  order_list: ({ orders }) =>
    h(
      "div",
      { class: "po-in" },
      h("b", {}, "Your orders"),
      (orders ?? []).slice(0, 10).map(({ number, status, total }) => h("small", {}, `${number}: ${status}, ${total}`)),
    ),
  escalation_button: ({ label, escalation }) =>
    h(
      "form",
      { method: "post" },
      h("input", { type: "hidden", name: "csrfmiddlewaretoken", value: form.elements.csrfmiddlewaretoken.value }),
      h("input", { type: "hidden", name: "escalation", value: escalation }),
      h("button", { class: "btn btn-sm" }, icon("message-user"), label),
    ),
};

const said = (role, content, { author, ...attributes } = {}) =>
  h("div", { class: "po-said", "data-role": role, ...attributes }, speaker(role, author), h("p", { dir: "auto" }, content));

/** Who speaks: that a person does is seen, the rest is plain from where the words stand. */
const speaker = (role, author) =>
  role === "operator"
    ? h("span", { class: "po-who" }, author ? `${author}, a colleague` : "A colleague")
    : h("span", { class: "visually-hidden" }, role === "user" ? "You:" : "The agent:");

let stream = null;
let writing = null;

function put(element) {
  document.getElementById("none")?.remove();
  log.append(element);
  log.scrollTop = log.scrollHeight;
  return element;
}

function show(message) {
  if (!["user", "agent", "operator"].includes(message.role)) return;
  if (log.querySelector(`[data-id="${CSS.escape(message.id)}"]`)) return;
  if (message.role === "agent") forget();
  const pending = message.role === "user" && log.querySelector(`.po-said[aria-busy][data-role="user"]`);
  const element = said(message.role, message.content, { "data-id": message.id, author: message.author });
  for (const block of message.blocks ?? []) if (CARDS[block.type]) element.append(CARDS[block.type](block));
  if (pending) pending.replaceWith(element);
  else put(element);
}

/** Words of a reply that is still being written; an offset of 0 begins anew. */
function write({ offset, text }) {
  writing ??= put(said("agent", "", { "aria-busy": "true" }));
  const words = writing.querySelector("p");
  words.textContent = words.textContent.slice(0, offset) + text;
  log.scrollTop = log.scrollHeight;
}

/** Somebody is to see that an answer comes, also one who loads the page in the middle of it. */
function expect() {
  writing ??= put(said("agent", "", { "aria-busy": "true" }));
  if (!writing.querySelector("p").textContent) writing.querySelector("p").textContent = "…";
}

function forget() {
  writing?.remove();
  writing = null;
}

/** What a turn may have changed beside the chat: somebody has proved who they are, or something was booked. */
async function look() {
  const answer = await fetch(location.pathname, { headers: { Accept: "application/json" } }).catch(() => null);
  if (!answer?.ok) return;
  const found = await answer.json();
  if (proof && found.is_known) location.reload();
  const rows = found.bookings.map(({ url, words }) =>
    h("a", { class: "po-book", href: url }, icon("calendar-time"), h("span", {}, words)),
  );
  booked?.replaceChildren(...(rows.length ? rows : [h("p", { class: "po-none" }, booked.dataset.none)]));
}

function listen() {
  if (stream) return;
  stream = new EventSource(`${log.dataset.events}?after=${log.dataset.after}`);
  const on = (name, act) => stream.addEventListener(name, (event) => act(JSON.parse(event.data)));
  on("message", show);
  on("token", write);
  on("turn", ({ status }) => (["queued", "replying"].includes(status) ? expect() : forget()));
  on("done", () => {
    forget();
    look();
  });
  on("reset", ({ messages, writing: reply }) => {
    messages.forEach(show);
    if (reply) expect();
  });
}

/** Sends what was written. What a form of the page says for somebody is shown when it has arrived. */
async function send(content, body = new FormData(form)) {
  const own = content ? put(said("user", content, { "aria-busy": "true" })) : null;
  why.hidden = true;
  if (content) field.value = "";
  try {
    const answer = await fetch(location.pathname, { method: "POST", body, headers: { Accept: "application/json" } });
    const found = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : null;
    if (!answer.ok) throw new Error(found?.error.message ?? "That was a lot at once. Wait a minute, and send it again.");
    if (!own || own.isConnected) show(found.message);
    listen();
  } catch (error) {
    own?.remove();
    if (content) field.value = content;
    why.textContent = error instanceof TypeError ? "It was not sent: there is no connection. Try again." : error.message;
    why.hidden = false;
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const content = field.value.trim();
  if (content && !limit.look()) send(content);
});
proof?.addEventListener("submit", (event) => {
  event.preventDefault();
  send("", new FormData(proof, event.submitter));
  proof.reset();
});
field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});
log.scrollTop = log.scrollHeight;
if ("writing" in log.dataset) expect();
if ("live" in log.dataset) listen();
