// Renderers of blocks, by type. Unknown types, and those whose capability the server doesn't grant, are dropped.
import { h, icon, link, pageAddress, words } from "./dom.js";
import { leadForm } from "./lead.js";
import { statusIn } from "./statuses.js";

// To add a type, name its capability and renderer. `render(block, context)` returns an element, or null if it cannot be shown.
const RENDERERS = {
  escalation_button: { capability: "ticket_escalation", render: escalation },
  article_card: { capability: "kb_article_card", render: article },
  order_list: { capability: "order_status", render: orders },
};

/** The capabilities this script can render. */
const RENDERABLE = new Set(Object.values(RENDERERS).map((renderer) => renderer.capability));

/** True if the server grants the agent the capability and this script can render it. */
const canRender = (capability, agent) => RENDERABLE.has(capability) && (agent.capabilities ?? []).includes(capability);

export function renderBlock(block, context) {
  const renderer = Object.hasOwn(RENDERERS, block?.type) ? RENDERERS[block.type] : null;
  if (!renderer || !canRender(renderer.capability, context.agent)) return null;
  try {
    return renderer.render(block, context);
  } catch {
    // The block comes from a newer server.
    return null;
  }
}

function escalation(block, context) {
  const place = h("div", { class: "esc-place" });
  // The agent's label is in English.
  const label = (context.language === "en" && words(block.label)) || context.say("Talk to a person");
  const done = () => place.replaceChildren(h("p", { class: "note", role: "status" }, context.say("Thanks. A colleague will reply here or get back to you.")));
  const offer = () => {
    const button = h("button", { type: "button", class: "esc", onclick: () => ask() }, icon("person"), label);
    place.replaceChildren(button);
    return button;
  };
  const ask = () => {
    const form = leadForm(context, { escalation: words(block.escalation), onDone: done, onCancel: () => offer().focus() });
    place.replaceChildren(form);
    // The shop already gave a signed-in shopper's name and contact.
    form.querySelector(context.known("name") ? "[name=note]" : "input").focus({ preventScroll: true });
    form.scrollIntoView({ block: "nearest" });
  };
  if (context.hasAsked(words(block.escalation))) done();
  else offer();
  return place;
}

function article(block, context) {
  const title = words(block.title);
  if (!title) return null;
  return link(
    pageAddress(block.url, context.base),
    { class: "card" },
    icon("article"),
    h("small", {}, context.say("From our help pages")),
    h("b", { dir: "auto" }, title),
    words(block.excerpt) && h("span", { dir: "auto" }, words(block.excerpt)),
  );
}

const TONES = { completed: "ok", delivered: "ok", cancelled: "bad", failed: "bad", refunded: "bad" };

function orders(block, context) {
  const rows = Array.isArray(block.orders) ? block.orders : [];
  if (!rows.length) return null;
  return h("ul", { class: "orders", "aria-label": context.say("Your orders") }, rows.slice(0, 10).map((row) => order(row, context)));
}

function order(row, context) {
  const status = words(row.status);
  const label = words(row.status_label) || statusIn(status, context.say);
  const parcels = (Array.isArray(row.tracking) ? row.tracking : []).filter((parcel) => pageAddress(parcel?.url) || words(parcel?.number));
  const bought = itemsIn(row.items);
  const line = [dayIn(row.date, context.language), amountIn(row.total, context.language)].filter(Boolean).join(" · ");
  return h(
    "li",
    {},
    h("div", {}, h("b", {}, `${context.say("Order")} ${words(row.number)}`), label && h("span", { class: `s ${TONES[status] ?? "go"}` }, label)),
    bought && h("small", { dir: "auto" }, bought),
    line && h("small", { dir: "auto" }, line),
    parcels.map((parcel) => trackIn(parcel, context)),
  );
}

/** "18 November" in the widget's language; the server's text if it is not a date. */
function dayIn(date, language) {
  const day = new Date(`${words(date)}T12:00`);
  return Number.isNaN(day.valueOf()) ? words(date) : day.toLocaleDateString(language, { day: "numeric", month: "long" });
}

/** "€1,299.00" in the widget's language; the server's text if it is not an amount. */
function amountIn(total, language) {
  const [, amount, currency] = /^([\d,]+(?:\.\d+)?) ([A-Z]{3})$/.exec(words(total)) ?? [];
  const digits = { style: "currency", currency, minimumFractionDigits: amount?.split(".")[1]?.length ?? 0 };
  return amount ? Number(amount.replaceAll(",", "")).toLocaleString(language, digits) : words(total);
}

/** A parcel's tracking link, or its number if there is no link. */
function trackIn({ url, provider, number }, context) {
  if (!pageAddress(url)) return h("small", {}, h("bdi", {}, [words(provider), words(number)].filter(Boolean).join(" ")));
  return link(url, {}, [context.say("Track"), words(provider)].filter(Boolean).join(" "), icon("out"));
}

/** "2 × Olio nuovo, 1 × Pecorino" */
const itemsIn = (items) => (Array.isArray(items) ? items : []).map((item) => `${words(item?.quantity) || 1} × ${words(item?.name)}`).join(", ");
