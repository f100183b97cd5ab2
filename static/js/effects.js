// The effects of a turn and the stages of its promises: said, understood, done, told.
import { h, icon, refill, state } from "./dom.js";
import * as format from "./format.js";
import { fill, gettext, ngettext } from "./i18n.js";
import { isAwaited, receiptLook } from "./receipts.js";
import { isInOutbox } from "./turn.js";

const STATES = {
  planned: ["act", "calendar-time", gettext("Planned")],
  sending: ["act", "loader-2", gettext("Sending")],
  done: ["ok", "check", gettext("Done")],
  failed: ["bad", "alert-triangle", gettext("Failed")],
  unknown: ["warn", "help-circle", gettext("Unknown")],
  held: ["warn", "hand-stop", gettext("Held back")],
  cancelled: ["mute", "circle-minus", gettext("Canceled")],
};
const OUTBOX = ["warn", "inbox", gettext("Not sent: outbox")];
const SENTENCES = {
  unknown: gettext("It was sent, and its outcome is unknown. Nothing is repeated until someone confirms what happened."),
  held: gettext("The same was already done for this customer, so it waits for your team."),
  failed: gettext("The customer isn’t told that it was done."),
  outbox: gettext("No service is connected, so nothing was sent. This is what would have been sent."),
  undelivered: gettext("It was sent, but it did not arrive."),
  awaited: gettext("The provider has taken the message. Its promise is kept once it was delivered."),
};

const isOnItsWay = ({ state, receipt }) => state === "done" && isAwaited(receipt);

export class Effects {
  /** Read-only without `links` and `api`. */
  constructor(element, { api, toast, refresh, canOperate, links }) {
    this.element = element;
    Object.assign(this, { api, toast, refresh, canOperate, links });
  }

  render(turn, store) {
    const told = (effect) => toldAfter(effect, turn, store);
    refill(
      this.element,
      JSON.stringify([turn.id, turn.effects, turn.verdicts, turn.waits, turn.replied_at, turn.effects.map(told)]),
      () => this.build(turn, told),
    );
  }

  build(turn, told) {
    if (!turn.effects.length)
      return h(
        "p",
        { class: "pg-none" },
        gettext("No effects in this turn. When a promise runs a tool, its effect appears here."),
      );
    return h(
      "div",
      { class: "pg-pad mg-stack pg-effects" },
      turn.effects.map((effect) => this.one(turn, effect, told(effect))),
    );
  }

  one(turn, effect, told) {
    const verdict = turn.verdicts.find((other) => other.fired && other.tool === effect.tool);
    const sentence = SENTENCES[caseOf(effect)];
    const [tone, name, word] = lookOf(effect);
    return h(
      "article",
      { class: "mg-stack", "data-effect": effect.tool },
      h(
        "div",
        { class: "mg-flow" },
        state(tone, name, tookOf(effect, word), { fill: true }),
        h("b", { class: "tb", dir: "auto" }, verdict ? `“${verdict.quote}”` : effect.tool),
        h("a", { class: "ts ml", href: `${this.links.effects}/${effect.id}` }, gettext("Details")),
      ),
      trail(turn, effect, { verdict, told, tone }),
      payload(effect),
      effect.error && h("p", { class: "ts" }, effect.error),
      sentence && h("p", { class: "ts t3" }, sentence),
      effect.next_attempt_at && h("p", { class: "ts", "data-retry": "" }, nextAttempt(effect)),
      waited(turn.waits.find((wait) => wait.effect === effect.id)),
      this.canOperate && this.answers(turn, effect),
    );
  }

  /** Actions: confirm an unknown outcome, release a held effect. */
  answers(turn, effect) {
    const button = (icons, words, path, body) =>
      h(
        "button",
        {
          type: "button",
          class: "btn btn-quiet btn-sm",
          onclick: (event) => this.answer(event.currentTarget, turn, path, body),
        },
        icon(icons),
        words,
      );
    const path = `/effects/${effect.id}`;
    if (effect.state === "unknown")
      return h(
        "div",
        { class: "mg-note pg-ask", "data-s": "warn" },
        icon("help-circle"),
        h("b", { class: "tb" }, gettext("Did this happen?")),
        h(
          "span",
          { class: "mg-flow ml" },
          button("check", gettext("It happened"), `${path}/resolve`, { happened: true }),
          button("refresh", gettext("Didn’t happen, send again"), `${path}/resolve`, { happened: false }),
        ),
      );
    return (
      effect.state === "held" && h("div", {}, button("player-play", gettext("Release and run"), `${path}/release`, {}))
    );
  }

  async answer(button, turn, path, body) {
    button.disabled = true;
    try {
      await this.api.post(path, body);
      this.refresh(turn.id);
    } catch (error) {
      button.disabled = false;
      this.toast.error(error.message);
    }
  }
}

function lookOf(effect) {
  if (isInOutbox(effect)) return OUTBOX;
  if (isOnItsWay(effect)) return receiptLook(effect.receipt);
  return STATES[effect.state] ?? ["mute", "circle-dotted", format.words(effect.state)];
}

/** The sentence that explains an effect's state. */
function caseOf(effect) {
  if (isInOutbox(effect)) return "outbox";
  if (isOnItsWay(effect)) return "awaited";
  return effect.state === "failed" && effect.receipt?.state === "failed" ? "undelivered" : effect.state;
}

const isOver = (effect) => effect.state === "done" && !isInOutbox(effect) && !isOnItsWay(effect);

const tookOf = (effect, word) =>
  effect.finished_at && isOver(effect)
    ? fill(gettext("Done in %(time)s"), { time: format.duration(format.between(effect.created_at, effect.finished_at)) })
    : word;

const nextAttempt = ({ next_attempt_at: at }) => fill(gettext("Next attempt: %(at)s"), { at: format.moment(at) });

/** Says that the agent waited for the effect, and how the wait ended. */
function waited(wait) {
  if (!wait) return null;
  const until = format.seconds(wait.until);
  const [tone, words] = {
    result: ["ok", gettext("The agent waited for this result, and it arrived.")],
    failure: ["bad", gettext("The agent waited for this, and it failed.")],
    timeout: ["warn", fill(gettext("The agent waited for this until %(time)s, but no result arrived."), { time: until })],
  }[wait.outcome] ?? [
    "act",
    fill(gettext("The agent waits for this until %(time)s at the latest. No new directives are written until then."), { time: until }),
  ];
  return h("p", { class: "ts", "data-wait": wait.outcome ?? "open" }, state(tone, "clock-pause", words));
}

function trail(turn, effect, { verdict, told, tone }) {
  const at = (iso) => format.duration(format.between(turn.created_at, iso));
  const attempts = format.numbered(ngettext("%(number)s attempt", "%(number)s attempts", effect.attempts), effect.attempts);
  const isDone = effect.state === "done";
  const arrived = isOver(effect) && effect.receipt;
  return h("ol", { class: "mg-trail" }, [
    point(gettext("Said"), turn.replied_at && fill(gettext("%(time)s, reply of turn %(turn)s"), { time: at(turn.replied_at), turn: turn.seq }), "ok"),
    point(gettext("Understood"), `${at(effect.created_at)}, ${verdict ? verdict.tool : effect.kind}`, "ok"),
    point(
      arrived ? receiptLook(arrived)[2] : isOver(effect) ? gettext("Done") : lookOf(effect)[2],
      effect.finished_at ? `${at(arrived?.at ?? effect.finished_at)}, ${attempts}` : isDone && attempts,
      tone,
    ),
    point(gettext("Reported to the agent"), told && at(told.created_at), "ok"),
  ]);
}

const point = (name, fact, tone) =>
  h(
    "li",
    { "data-s": tone, class: fact ? null : "todo" },
    h("b", {}, name),
    h("span", { class: "t3" }, fact || gettext("not yet")),
  );

function payload({ arguments: asked, result }) {
  const lines = [json(asked), result !== null && result !== undefined && `→ ${json(result)}`];
  return h("pre", { tabindex: "0" }, lines.filter(Boolean).join("\n"));
}

const json = (value) =>
  typeof value === "string"
    ? value
    : JSON.stringify(value, null, 1)
        .replace(/([{[])\n\s*/g, "$1")
        .replace(/\n\s*([}\]])/g, "$1")
        .replace(/\n\s*/g, " ");


/** The agent's first message after the effect ended, other than the reply that promised it. */
function toldAfter(effect, turn, store) {
  if (!effect.finished_at) return null;
  const later = store
    .orderedMessages()
    .filter(
      (message) =>
        message.role === "agent" &&
        message.id !== turn.reply?.id &&
        new Date(message.created_at) >= new Date(effect.finished_at),
    );
  return later[0] ?? null;
}
