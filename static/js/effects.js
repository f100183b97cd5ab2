// What was done because of this turn, and how each promise fared: said, understood, done, told.
import { h, refill, state } from "./dom.js";
import * as format from "./format.js";

const STATES = {
  planned: ["act", "calendar-time", "Planned"],
  sending: ["act", "loader-2", "Sending"],
  done: ["ok", "check", "Done"],
  failed: ["bad", "alert-triangle", "Failed"],
  unknown: ["warn", "help-circle", "Unknown"],
  held: ["warn", "hand-stop", "Held back"],
  cancelled: ["mute", "circle-minus", "Cancelled"],
};
const SENTENCES = {
  unknown: "It was sent, and no answer came. Nothing is repeated until someone says what happened.",
  held: "The same was already done for this customer, so it waits for staff.",
  failed: "The customer is not told that it was done.",
};

export class Effects {
  constructor(element) {
    this.element = element;
  }

  render(turn, store) {
    const told = (effect) => toldAfter(effect, turn, store);
    refill(
      this.element,
      JSON.stringify([turn.id, turn.effects, turn.verdicts, turn.replied_at, turn.effects.map(told)]),
      () => build(turn, told),
    );
  }
}

function build(turn, told) {
  if (!turn.effects.length)
    return h(
      "p",
      { class: "pg-none" },
      "Nothing was done in this turn. When a promise fires a tool, what became of it stands here.",
    );
  return h(
    "div",
    { class: "pg-pad mg-stack pg-effects" },
    turn.effects.map((effect) => one(turn, effect, told(effect))),
  );
}

function one(turn, effect, told) {
  const verdict = turn.verdicts.find((other) => other.fired && other.tool === effect.tool);
  const [tone, name, word] = STATES[effect.state] ?? ["mute", "circle-dotted", format.words(effect.state)];
  const took =
    effect.finished_at && effect.state === "done"
      ? ` in ${format.duration(format.between(effect.created_at, effect.finished_at))}`
      : "";
  return h(
    "article",
    { class: "mg-stack", "data-effect": effect.tool },
    h(
      "div",
      { class: "mg-flow" },
      state(tone, name, word + took, { fill: true }),
      h("b", { class: "tb", dir: "auto" }, verdict ? `“${verdict.quote}”` : effect.tool),
    ),
    trail(turn, effect, { verdict, told, tone }),
    payload(effect),
    effect.error && h("p", { class: "ts" }, effect.error),
    SENTENCES[effect.state] && h("p", { class: "ts t3" }, SENTENCES[effect.state]),
  );
}

function trail(turn, effect, { verdict, told, tone }) {
  const at = (iso) => format.duration(format.between(turn.created_at, iso));
  const attempts = format.plural(effect.attempts, "attempt");
  const isDone = effect.state === "done";
  return h("ol", { class: "mg-trail" }, [
    point("Said", turn.replied_at && `${at(turn.replied_at)}, reply of turn ${turn.seq}`, "ok"),
    point("Understood", `${at(effect.created_at)}, ${verdict ? verdict.tool : effect.kind}`, "ok"),
    point(
      isDone ? "Done" : (STATES[effect.state]?.[2] ?? effect.state),
      effect.finished_at ? `${at(effect.finished_at)}, ${attempts}` : isDone && attempts,
      isDone ? "ok" : tone,
    ),
    point("Told", told && `${at(told.created_at)}, “${shorten(told.content)}”`, "ok"),
  ]);
}

const point = (name, fact, tone) =>
  h(
    "li",
    { "data-s": tone, class: fact ? null : "todo" },
    h("b", {}, name),
    h("span", { class: "t3" }, fact || "not yet"),
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

const shorten = (text) => (text.length > 60 ? `${text.slice(0, 60).replace(/\s+\S*$/, "")}…` : text);

/** The first thing the agent said after the effect was done, other than the reply that promised it. */
function toldAfter(effect, turn, store) {
  if (effect.state !== "done" || !effect.finished_at) return null;
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
