// The transcript: keyed rows updated in place, so that a form or a selection in a row survives.
import { renderBlock } from "./blocks.js";
import { colleagueName, noticeText } from "./colleagues.js";
import { h, linked } from "./dom.js";
import { renderFiles, wordsOf } from "./files.js";
import { asksForRating, RatingCard } from "./rating.js";

const NEAR_PX = 80;

export class Log {
  constructor(context) {
    this.context = context;
    this.rows = new Map();
    this.stuck = true;
    this.element = h("div", { class: "log", tabindex: "0", role: "group", "aria-label": context.say("Conversation with %(name)s") });
    this.element.addEventListener("scroll", () => this.scrolled(), { passive: true });
    new ResizeObserver(() => this.settle()).observe(this.element);
  }

  render(talk) {
    const rows = this.list(talk);
    const kept = new Set(rows.map((row) => row.key));
    for (const [key, row] of this.rows) if (!kept.has(key)) (row.element.remove(), this.rows.delete(key));
    rows.forEach((row, at) => this.put(row, at));
    this.settle();
  }

  put(row, at) {
    const known = this.rows.get(row.key) ?? { element: row.build() };
    this.rows.set(row.key, known);
    if (this.element.children[at] !== known.element) this.element.insertBefore(known.element, this.element.children[at] ?? null);
    row.update?.(known.element);
  }

  list(talk) {
    const messages = talk.ordered();
    const rows = [this.opening(), ...(messages.length || talk.outbox.length || talk.drafts.size ? [] : this.picks())];
    const replied = new Set();
    let day = dayOf(new Date());
    for (const message of messages) {
      // Today's messages need no date.
      if (dayOf(message.created_at) !== day) rows.push(this.day((day = dayOf(message.created_at))));
      if (message.role === "user") rows.push(this.mine(message));
      else rows.push(message.role === "system" ? this.notice(message) : this.theirs(message, replied));
    }
    for (const draft of talk.drafts.values()) rows.push(this.writing(draft, replied));
    if (talk.waiting && !talk.drafts.size) rows.push(this.working());
    if (asksForRating(talk, this.context.agent)) rows.push(this.rating(talk, messages.at(-1)));
    return [...rows, ...talk.outbox.map((item) => this.pending(item, talk))];
  }

  opening() {
    const { agent, say } = this.context;
    const greeting = () => agent.greeting && h("div", { class: "a" }, h("p", { dir: "auto" }, agent.greeting));
    const build = () => h("div", { class: "opening" }, h("p", { class: "day" }, say("You’re chatting with an AI agent.")), greeting());
    const update = (element) => {
      const shown = element.querySelector(".a");
      if ((shown?.textContent ?? "") !== (agent.greeting ?? "")) element.replaceChildren(...build().childNodes);
    };
    return { key: "opening", build, update };
  }

  day(day) {
    const { language } = this.context;
    return { key: `day:${day}`, build: () => h("p", { class: "day" }, new Date(day).toLocaleDateString(language, { weekday: "long", day: "numeric", month: "long" })) };
  }

  /** Suggested first messages. */
  picks() {
    const { agent, say, write } = this.context;
    if (!agent.suggestions?.length) return [];
    const pick = (text) => h("button", { type: "button", dir: "auto", onclick: () => write(text) }, text);
    return [{ key: "picks", build: () => h("div", { class: "picks", role: "group", "aria-label": say("Write a message") }, agent.suggestions.map(pick)) }];
  }

  mine(message) {
    return { key: message.id, build: () => ownBubble(wordsOf(message), renderFiles(message.attachments)) };
  }

  notice(message) {
    return { key: message.id, build: () => h("p", { class: "notice", dir: "auto" }, noticeText(message, this.context.say)) };
  }

  /** The first message of a turn replaces its streamed draft. */
  theirs(message, replied) {
    const isReply = message.role === "agent" && message.turn && !replied.has(message.turn);
    if (isReply) replied.add(message.turn);
    const build = () => bubble(message.role === "operator" && colleagueName(message.author, this.context.say));
    return {
      key: isReply ? `reply:${message.turn}` : message.id,
      build,
      update: (element) => {
        this.fill(element, { text: wordsOf(message), blocks: message.blocks ?? [] });
        if (!element.querySelector(".files")) element.append(renderFiles(message.attachments) ?? "");
      },
    };
  }

  writing(draft, replied) {
    const note = draft.tool ? this.context.say("Looking it up") : draft.text ? "" : this.context.say("%(name)s is writing");
    const key = replied.has(draft.turn) ? `more:${draft.turn}` : `reply:${draft.turn}`;
    return { key, build: () => bubble(), update: (element) => this.fill(element, { ...draft, note }) };
  }

  working() {
    return { key: "working", build: () => bubble(), update: (element) => this.fill(element, { text: "", blocks: [], note: this.context.say("Working on it") }) };
  }

  /** One card for each end of the conversation. */
  rating({ rating }, { seq }) {
    const known = rating && rating.message >= seq ? rating : null;
    return { key: `rating:${seq}`, build: () => new RatingCard(this.context, known).element };
  }

  fill(element, { text, blocks, note = "" }) {
    const [words, shown, busy] = element.querySelectorAll(":scope > .words, :scope > .blocks, :scope > .busy");
    if (words.said !== text) (words.replaceChildren(...linked(text)), (words.said = text));
    words.hidden = !text;
    blocks.forEach((block, at) => this.show(shown, block, at));
    while (shown.children.length > blocks.length) shown.lastChild.remove();
    shown.hidden = ![...shown.children].some((child) => !child.hidden);
    if (busy.said !== note) (busy.lastChild.replaceChildren(note), (busy.said = note));
    busy.hidden = !note;
  }

  /** Keeps an unchanged block's element, with what a visitor typed in it. A block that cannot be shown gets a hidden one. */
  show(place, block, at) {
    const signature = signatureOf(block);
    const known = place.children[at];
    if (known?.signature === signature) return;
    const element = renderBlock(block, this.context) ?? h("div", { hidden: true });
    element.signature = signature;
    if (known) known.replaceWith(element);
    else place.append(element);
  }

  pending(item, talk) {
    const { say } = this.context;
    const build = () => ownBubble(item.content, renderFiles(item.files), h("span", { class: "bad", role: "alert" }));
    const update = (element) => {
      const failed = item.state === "failed";
      if (element.said === failed) return;
      element.said = failed;
      const why = item.error?.status ? item.error.message : "";
      element.lastChild.replaceChildren(
        ...(failed ? [say("Not sent."), " ", why, " ", h("button", { type: "button", onclick: () => talk.send(item) }, say("Try again"))] : []),
      );
    };
    return { key: `out:${item.key}`, build, update };
  }

  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.element;
    this.stuck = scrollHeight - scrollTop - clientHeight < NEAR_PX;
    this.context.onScroll(this.stuck);
  }

  /** Keeps the end in view, unless the reader has scrolled up. */
  settle() {
    if (this.stuck) this.element.scrollTop = this.element.scrollHeight;
  }

  toEnd() {
    this.stuck = true;
    this.settle();
  }
}

/** The local day of a time; today for an invalid one. */
const dayOf = (time) => (Number.isNaN(Date.parse(time)) ? new Date() : new Date(time)).toDateString();

const ownBubble = (said, ...more) => h("div", { class: "me" }, said && h("p", { dir: "auto" }, linked(said)), ...more);

function bubble(who) {
  const dots = h("span", { "aria-hidden": "true" }, h("i"), " ", h("i"), " ", h("i"));
  return h(
    "div",
    { class: who ? "a op" : "a" },
    who && h("span", { class: "who" }, who),
    h("p", { class: "words", dir: "auto" }),
    h("div", { class: "blocks" }),
    h("span", { class: "busy", hidden: true }, dots, h("span")),
  );
}

/** Equal blocks have equal signatures: the order of keys isn't the same live and read from the database. */
function signatureOf(block) {
  const isObject = (value) => value && typeof value === "object" && !Array.isArray(value);
  return JSON.stringify(block, (_, value) => (isObject(value) ? Object.fromEntries(Object.entries(value).sort()) : value));
}
