// The portal's chat: sends messages without a page load and streams the reply. Without this script the form still submits, and
// the reply appears on the next page load.
import { attachments, wordsOf } from "./attachments.js";
import { h, icon } from "./dom.js";
import { Files } from "./files.js";
import { Limit } from "./limit.js";
import { Newest } from "./newest.js";
import { post } from "./upload.js";

const FIRST_DELAY_MS = 1_000;
const LAST_DELAY_MS = 60_000;
const OVER = new Set(["done", "failed", "superseded"]);
const { gettext, interpolate } = window.django;
const log = document.getElementById("log");
const form = document.getElementById("form");
const field = form.elements.content;
const why = document.getElementById("why");
const limit = new Limit(field, { after: form, sentence: gettext("Too long: %(count)s of %(most)s characters. Remove %(over)s to send.") });
const proof = document.querySelector("[data-proof]");
const rate = document.getElementById("rate");
const booked = document.getElementById("booked");

/** Renderers of blocks, with the same output as the server's template. */
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
      h("b", {}, gettext("Your orders")),
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
  h("div", { class: "po-said", "data-role": role, ...attributes }, speaker(role, author), (content || role !== "user") && h("p", { dir: "auto" }, content));

/** The speaker's label: visible for an operator, for screen readers otherwise. */
const speaker = (role, author) =>
  role === "operator"
    ? h("span", { class: "po-who" }, author ? interpolate(gettext("%(who)s, a colleague"), { who: author }, true) : gettext("A colleague"))
    : h("span", { class: "visually-hidden" }, `${role === "user" ? gettext("You") : gettext("Agent")}:`);

const looks = new Newest();
const over = new Set();
let stream = null;
let again = null;
let delay = FIRST_DELAY_MS;
let writing = null;
let isProving = false;
let unsent = null;

function put(element) {
  document.getElementById("none")?.remove();
  log.append(element);
  log.scrollTop = log.scrollHeight;
  return element;
}

const isShown = ({ id }) => log.querySelector(`[data-id="${CSS.escape(id)}"]`) !== null;

function show(message) {
  if (!["user", "agent", "operator"].includes(message.role)) return;
  if (isShown(message)) return;
  if (message.role === "agent") end(message.turn);
  if (message.role === "user") askForRating(false);
  const pending = message.role === "user" && log.querySelector(`.po-said[aria-busy][data-role="user"]`);
  const element = said(message.role, wordsOf(message), { "data-id": message.id, author: message.author });
  for (const block of message.blocks ?? []) if (CARDS[block.type]) element.append(CARDS[block.type](block));
  element.append(attachments(message.attachments) ?? "");
  if (pending) pending.replaceWith(element);
  else put(element);
}

/** Appends a piece of the streamed reply at its offset, in code points. A piece may arrive after its turn has ended. */
function write({ turn, offset, text }) {
  if (over.has(turn)) return;
  writing ??= put(said("agent", "", { "aria-busy": "true" }));
  const words = writing.querySelector("p");
  words.textContent = [...words.textContent].slice(0, offset).join("") + text;
  log.scrollTop = log.scrollHeight;
}

/** Shows that a reply is on its way, also on a page loaded in the middle of it. */
function expect() {
  writing ??= put(said("agent", "", { "aria-busy": "true" }));
  if (!writing.querySelector("p").textContent) writing.querySelector("p").textContent = "…";
}

function end(turn) {
  over.add(turn);
  writing?.remove();
  writing = null;
}

function turned({ turn, status }) {
  if (OVER.has(status)) return end(turn);
  // An operator can have a failed reply written again.
  over.delete(turn);
  expect();
}

/** Refreshes the rest of the page after a turn: the visitor may have verified themselves or booked something. */
async function look() {
  const answer = await looks.of(fetch(location.pathname, { headers: { Accept: "application/json" } }));
  if (!answer?.ok) return;
  const found = await answer.json();
  if (proof && found.is_known) location.reload();
  const rows = found.bookings.map(({ url, words }) =>
    h("a", { class: "po-book", href: url }, icon("calendar-time"), h("span", { dir: "auto" }, words)),
  );
  booked?.replaceChildren(...(rows.length ? rows : [h("p", { class: "po-none" }, booked.dataset.none)]));
}

function listen() {
  if (stream) return;
  clearTimeout(again);
  const { events, chat, after } = log.dataset;
  stream = new EventSource(`${events}?chat=${chat}&after=${after}`);
  stream.addEventListener("open", () => (delay = FIRST_DELAY_MS));
  stream.addEventListener("error", broken);
  const on = (name, act) =>
    stream.addEventListener(name, (event) => {
      if (event.lastEventId) log.dataset.after = event.lastEventId;
      act(JSON.parse(event.data));
    });
  on("message", show);
  on("token", write);
  on("turn", turned);
  on("over", ({ over: isOver }) => askForRating(isOver));
  on("done", ({ turn }) => {
    end(turn);
    look();
  });
  on("begun", ({ chat }) => follow(chat));
  on("reset", ({ messages, writing: reply, over: isOver, rating }) => {
    messages.forEach(show);
    askForRating(isOver && !(rating?.message >= messages.at(-1)?.seq));
    if (reply) expect();
  });
}

/** Reconnects after a refused connection; the browser retries the others itself. */
function broken() {
  if (stream.readyState !== EventSource.CLOSED) return;
  stream = null;
  again = setTimeout(listen, delay);
  delay = Math.min(delay * 2, LAST_DELAY_MS);
}

/** Follows the message's chat: the first one, or the new one after the verification has expired. */
function follow(chat) {
  if (chat !== log.dataset.chat) {
    Object.assign(log.dataset, { chat, after: "0" });
    stream?.close();
    stream = null;
  }
  listen();
}

/** Asks to rate the chat, or stops asking. */
function askForRating(asks) {
  if (rate) rate.hidden = !asks || !log.querySelector('[data-role="agent"], [data-role="operator"]');
}

async function sendRating() {
  why.hidden = true;
  try {
    const answer = await fetch(location.pathname, { method: "POST", body: new FormData(rate), headers: { Accept: "application/json" } });
    const found = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : null;
    if (!answer.ok) throw new Error(found?.error.message ?? gettext("Too many messages. Wait a minute, then send again."));
    rate.reset();
    rate.hidden = true;
    put(h("p", { class: "po-none", role: "status" }, gettext("Thanks for your rating.")));
  } catch (error) {
    why.textContent = error instanceof TypeError ? gettext("Not sent: no connection. Try again.") : error.message;
    why.hidden = false;
  }
}

const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** Sends a message (`content`), or another form of the page (`body`), whose message is shown once it is stored.
 * A retry of the same text has the same idempotency key, because only the response may have been lost. */
async function send(content, { body = new FormData(form), sent = [] } = {}) {
  const isMessage = content || sent.length > 0;
  const words = [content, ...sent.map(({ id }) => id)].join("\n");
  if (!isMessage || unsent?.words !== words) unsent = { words, key: newKey() };
  const { key } = unsent;
  const own = isMessage ? put(said("user", content, { "aria-busy": "true" })) : null;
  own?.append(attachments(sent) ?? "");
  body.delete("files");
  for (const { id } of sent) body.append("attachments", id);
  why.hidden = true;
  if (content) field.value = "";
  files?.clear();
  try {
    const headers = { Accept: "application/json", "Idempotency-Key": key };
    const answer = await fetch(location.pathname, { method: "POST", body, headers });
    const found = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : null;
    if (!answer.ok) throw new Error(found?.error.message ?? gettext("Too many messages. Wait a minute, then send again."));
    if (unsent?.key === key) unsent = null;
    // An earlier try may have been stored, and the stream has shown its message.
    if (isShown(found.message)) own?.remove();
    else show(found.message);
    follow(found.chat);
  } catch (error) {
    own?.remove();
    if (content) field.value = content;
    if (sent.length) files.restore(sent);
    why.textContent = error instanceof TypeError ? gettext("Not sent: no connection. Try again.") : error.message;
    why.hidden = false;
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const content = field.value.trim();
  if (files?.isBusy || limit.look()) return;
  const sent = files?.files ?? [];
  if (content || sent.length) send(content, { sent });
});
rate?.addEventListener("submit", (event) => {
  event.preventDefault();
  sendRating();
});
proof?.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (isProving) return;
  isProving = true;
  const body = new FormData(proof, event.submitter);
  proof.reset();
  await send("", { body });
  isProving = false;
});
field.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  form.requestSubmit();
});

/** Files of the next message: the script uploads them one by one. */
function takeFiles(tool) {
  const say = (words) => ((why.textContent = words), (why.hidden = !words));
  const upload = (file, key, onProgress) =>
    post(tool.dataset.address, file, {
      key,
      onProgress,
      headers: { "X-CSRFToken": form.elements.csrfmiddlewaretoken.value },
      unreachable: gettext("Not sent: no connection. Try again."),
      refused: gettext("Too many messages. Wait a minute, then send again."),
    });
  tool.querySelector("button").hidden = false;
  tool.querySelector("input").hidden = true;
  return new Files({ form, tool, list: document.getElementById("files"), say, upload });
}
const files = document.getElementById("file-tool") && takeFiles(document.getElementById("file-tool"));
log.scrollTop = log.scrollHeight;
if ("writing" in log.dataset) expect();
// A page without a chat waits for one to begin on another of the customer's pages.
listen();
