// The transcript: rows keyed by content, rebuilt only when it changes.
import { attachments, wordsOf } from "./attachments.js";
import { cards } from "./blocks.js";
import { h, icon, linked, note, state } from "./dom.js";
import * as format from "./format.js";
import { fill, gettext, ngettext } from "./i18n.js";
import { mark, marked, place } from "./marks.js";
import { holder, promiseState } from "./promise_state.js";
import { receiptMark } from "./receipts.js";
import { isReplying, openCall, reading } from "./turn.js";

const NEAR_PX = 80;
const CHANNELS = {
  chat: gettext("chat"),
  phone: gettext("phone call"),
  webcall: gettext("call in the browser"),
  sms: gettext("text messages"),
  whatsapp: "WhatsApp",
  telegram: "Telegram",
  email: gettext("e-mail"),
};

const agentFace = () => h("span", { class: "mg-av agent", "aria-hidden": "true" }, icon("feather"));
const said = ({ created_at }) =>
  h("time", { datetime: created_at, title: format.moment(created_at) }, format.said(created_at));
const meta = (...children) => h("div", { class: "meta" }, ...children);

const promisesOf = (message, turn) => turn.promises.filter((promise) => promise.message === message.id);

export class Chat {
  /** `todos` is the address of todos. `inspects`: replies also show their verdicts. */
  constructor({ log, scroll, latest, todos, select, retry, edit, inspects = false }) {
    Object.assign(this, { log, scroll, latest, todos, select, retry, edit, inspects });
    this.rows = new Map();
    this.stuck = true;
    scroll.addEventListener("scroll", () => this.scrolled(), { passive: true });
    const observer = new ResizeObserver(() => this.settle());
    observer.observe(log);
    observer.observe(scroll);
    latest.addEventListener("click", () => this.toEnd());
  }

  render(store) {
    const rows = this.list(store);
    const kept = new Set(rows.map((row) => row.key));
    for (const [key, row] of this.rows) if (!kept.has(key)) (row.element.remove(), this.rows.delete(key));
    let before = null;
    for (const row of rows) before = this.put(row, before);
    this.settle();
    this.reveal(store);
  }

  /** Scrolls to the message of the turn just selected. */
  reveal(store) {
    if (this.shown === store.selected) return;
    this.shown = store.selected;
    if (store.pinned) this.log.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
    else this.toEnd();
  }

  put(row, before) {
    const known = this.rows.get(row.key);
    const element = known?.signature === row.signature ? known.element : row.build();
    if (known && known.element !== element) known.element.replaceWith(element);
    row.update?.(element);
    const place = before ? before.nextSibling : this.log.firstChild;
    if (place !== element) this.log.insertBefore(element, place);
    this.rows.set(row.key, { element, signature: row.signature });
    return element;
  }

  list(store) {
    const rows = [];
    const messages = store.orderedMessages();
    const lastOf = new Map(messages.map((message) => [message.turn, message]));
    const opening = store.conversation && messages.length && this.opening(store.conversation);
    if (opening) rows.push(opening);
    messages.forEach((message) => {
      rows.push(this.message(store, message));
      const turn = store.turns.get(message.turn);
      if (lastOf.get(message.turn) === message)
        rows.push(...this.notesOf(store, message.turn));
      if (message.role === "user" && turn?.status === "superseded") rows.push(this.superseded(store, turn));
    });
    rows.push(...this.notesOf(store, undefined), ...this.writing(store));
    return [...rows, ...store.outbox.map((item) => this.pending(item))];
  }

  /** Staff notes of a turn; those without a turn go last. */
  notesOf(store, turn) {
    return store.notes.filter((one) => one.turn === turn).map((one) => this.staffNote(one));
  }

  opening(conversation) {
    const channel = CHANNELS[conversation.channel] ?? conversation.channel;
    const build = () =>
      h(
        "div",
        { class: "mg-sys", title: format.moment(conversation.created_at) },
        fill(gettext("Conversation started %(time)s, %(channel)s"), { time: format.said(conversation.created_at), channel }),
      );
    return { key: "opening", signature: conversation.id, build };
  }

  message(store, message) {
    const turn = store.turns.get(message.turn);
    const key = `message:${message.id}`;
    if (message.role === "user")
      return { key, signature: JSON.stringify([message.content, message.attachments]), build: () => this.fromCustomer(message) };
    if (message.role === "system" && message.blocks.some(({ type }) => type === "notice"))
      return { key, signature: message.content, build: () => h("div", { class: "mg-sys" }, message.content) };
    if (message.role === "system")
      return {
        key,
        signature: message.content,
        build: () =>
          h("details", { class: "mg-sys pg-sys" }, h("summary", {}, gettext("Message to the agent")), h("span", {}, message.content)),
      };
    const isReply = turn?.reply?.id === message.id;
    const selected = isReply && turn.id === store.selected;
    const signature = JSON.stringify([
      message,
      selected,
      isReply,
      turn && [turn.status, turn.freshness, turn.replied_at, this.inspects && turn.verdicts],
      turn && promisesOf(message, turn).map((promise) => [promise, promiseState(promise, turn)]),
    ]);
    return { key, signature, build: () => this.fromAgent(message, { turn, selected, isReply }) };
  }

  fromCustomer(message) {
    const words = wordsOf(message);
    return h(
      "div",
      { class: "mg-msg me" },
      words && h("p", { dir: "auto" }, linked(words)),
      attachments(message.attachments),
      meta(said(message)),
    );
  }

  fromAgent(message, { turn, selected, isReply }) {
    const content = wordsOf(message);
    const spans = turn ? place(content, promisesOf(message, turn)) : [];
    const words = marked(content, spans, (span, text, after) => [
      mark({ tone: promiseState(span.rows[0], turn)[0], number: span.number, words: text }),
      after,
    ]);
    const face =
      message.role === "operator" ? h("span", { class: "mg-av", "aria-hidden": "true" }, icon("user")) : agentFace();
    return h(
      "div",
      {
        class: selected ? "mg-msg sel" : "mg-msg",
        "aria-current": selected && "true",
        onclick: (event) => this.clicked(event, turn),
      },
      face,
      content && h("p", { dir: "auto" }, words),
      spans.length > 0 && this.promised(spans, turn),
      cards(message.blocks),
      attachments(message.attachments),
      meta(...(isReply ? this.facts(turn) : this.otherFacts(message, turn)), receiptMark(message.receipt), said(message)),
    );
  }

  /** The promises of a message, each with its mark's number, its state, and who has it if only a person can keep it. */
  promised(spans, turn) {
    const rows = spans.flatMap((span) => span.rows.map((promise) => ({ number: span.number, promise })));
    return h(
      "ul",
      { class: "pg-made", "aria-label": gettext("Promises") },
      rows.map(({ number, promise }) =>
        h(
          "li",
          { "data-promise": promise.state, title: promise.reason },
          h("span", { class: "mg-n" }, String(number)),
          state(...promiseState(promise, turn)),
          this.held(promise),
        ),
      ),
    );
  }

  held(promise) {
    const words = holder(promise);
    if (!words) return null;
    return promise.todo
      ? h("a", { href: `${this.todos}/${promise.todo}` }, words)
      : h("span", { class: "t2" }, words);
  }

  /** A message of a turn other than its reply: sent before a rerun, or reporting a result. */
  otherFacts(message, turn) {
    if (!turn) return [message.author && h("span", {}, message.author)];
    const isResult = turn.reply && message.seq > turn.reply.seq;
    const words = isResult
      ? gettext("Turn %(number)s, result")
      : turn.reply
        ? gettext("Turn %(number)s, before it ran again")
        : gettext("Turn %(number)s");
    return [this.turnLink(turn, fill(words, { number: turn.seq }))];
  }

  facts(turn) {
    const fired = turn.verdicts.filter((verdict) => verdict.fired).length;
    const held = turn.verdicts.filter((verdict) => reading(verdict).tone === "warn").length;
    // Text spoken by a voice model has no reply call of ours.
    const isSpoken = turn.replied_at && !turn.started_at;
    const took = turn.started_at && turn.replied_at && format.between(turn.created_at, turn.replied_at);
    return [
      this.turnLink(turn, fill(gettext("Turn %(number)s"), { number: turn.seq })),
      took && h("span", { title: gettext("From the customer’s message to the whole reply") }, format.roughly(took)),
      isSpoken && h("span", { title: gettext("Spoken on the call") }, gettext("spoken")),
      this.inspects && fired > 0 && state("ok", "bolt", fill(ngettext("%(number)s fired", "%(number)s fired", fired), { number: fired })),
      this.inspects && held > 0 && state("mute", "hand-stop", fill(ngettext("%(number)s held back", "%(number)s held back", held), { number: held })),
      turn.status === "failed" && state("bad", "alert-triangle", gettext("an apology, the reply failed")),
      turn.freshness === "waiting" && state("warn", "clock-pause", gettext("while waiting")),
    ];
  }

  turnLink(turn, label) {
    return h(
      "button",
      { type: "button", class: "pg-turn", onclick: () => this.select(turn.id, { show: true }) },
      label,
    );
  }

  clicked(event, turn) {
    const isSelecting = getSelection().toString() !== "";
    if (turn && !isSelecting && !event.target.closest("a, button")) this.select(turn.id, { show: false });
  }

  superseded(store, turn) {
    const next = store.turns.get(turn.superseded_by);
    const selected = turn.id === store.selected;
    const build = () =>
      h(
        "div",
        {
          class: selected ? "mg-msg me pg-superseded sel" : "mg-msg me pg-superseded",
          "aria-current": selected && "true",
        },
        meta(
          this.turnLink(turn, fill(gettext("Turn %(number)s"), { number: turn.seq })),
          state("mute", "arrow-back-up", next ? fill(gettext("Superseded by turn %(number)s"), { number: next.seq }) : gettext("Superseded")),
        ),
      );
    return { key: `superseded:${turn.id}`, signature: `${turn.seq}:${next?.seq}:${selected}`, build };
  }

  staffNote({ key, code, message }) {
    const build = () =>
      h(
        "div",
        { class: "pg-note", role: "alert" },
        note("bad", "alert-triangle", message, fill(gettext("Only your team sees this note. Code: %(code)s."), { code })),
      );
    return { key: `note:${key}`, signature: message, build };
  }

  /** Pending replies of any turn, including reruns. Names the tool being waited for. */
  writing(store) {
    const drafts = [...store.drafts].filter(([, draft]) => draft.text);
    const rows = drafts.map(([turnId, draft]) => this.draft(turnId, draft));
    const replying = store.orderedTurns().filter(isReplying);
    const looking = replying.find(openCall);
    const expected = looking ?? (rows.length ? null : replying.at(-1));
    return expected ? [...rows, this.expected(expected, looking && openCall(looking))] : rows;
  }

  draft(turnId, draft) {
    const build = () =>
      h(
        "div",
        { class: "mg-msg", "aria-busy": "true" },
        agentFace(),
        h("p", { dir: "auto" }, "", h("span", { class: "mg-caret" })),
      );
    const update = (element) => (element.querySelector("p").firstChild.data = draft.text);
    return { key: `draft:${turnId}`, signature: "draft", build, update };
  }

  expected(turn, call) {
    const words = call ? [fill(gettext("Calling %(tool)s"), { tool: `“${format.toolTitle(call.tool)}”` })] : [gettext("Writing the reply")];
    const build = () =>
      h(
        "div",
        { class: "mg-msg", "aria-busy": "true" },
        agentFace(),
        h("p", { class: "t3 pg-expected" }, h("span", { class: "mg-live", "data-s": "act" }), h("span", {}, words)),
      );
    return { key: `expected:${turn.id}`, signature: call?.id ?? "", build };
  }

  pending(item) {
    const failed = item.state === "failed";
    const status = failed
      ? [
          h("span", { class: "pg-unsent", role: "alert" }, icon("alert-triangle"), `${gettext("Not sent.")} ${item.error.message}`),
          h("button", { type: "button", class: "pg-turn", onclick: () => this.retry(item) }, gettext("Try again")),
          h("button", { type: "button", class: "pg-turn", onclick: () => this.edit(item) }, gettext("Edit")),
        ]
      : [h("span", {}, gettext("Sending"))];
    const build = () =>
      h("div", { class: "mg-msg me pg-pending" }, item.content && h("p", { dir: "auto" }, linked(item.content)), attachments(item.files), meta(...status));
    return { key: `outbox:${item.key}`, signature: item.state, build };
  }

  scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroll;
    this.stuck = scrollHeight - scrollTop - clientHeight < NEAR_PX;
    this.latest.hidden = this.stuck;
  }

  /** Keeps the end in view unless the reader scrolled up. */
  settle() {
    if (this.stuck) this.scroll.scrollTop = this.scroll.scrollHeight;
  }

  toEnd() {
    this.stuck = true;
    this.latest.hidden = true;
    this.settle();
  }
}
