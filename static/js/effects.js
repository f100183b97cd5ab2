// The effects of a turn and the stages of its promises: said, understood, done, told.
import { h, icon, refill, state } from "./dom.js";
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
const OUTBOX = ["mute", "inbox", "Not sent: outbox"];
const SENTENCES = {
  unknown: "It was sent, and no answer came. Nothing is repeated until someone says what happened.",
  held: "The same was already done for this customer, so it waits for staff.",
  failed: "The customer is not told that it was done.",
  outbox: "No service is connected for this, so nothing has left. This is what would have been sent.",
};

const isInOutbox = ({ state, result }) => state === "done" && result?.outbox === true;

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
        "Nothing was done in this turn. When a promise fires a tool, what became of it stands here.",
      );
    return h(
      "div",
      { class: "pg-pad mg-stack pg-effects" },
      turn.effects.map((effect) => this.one(turn, effect, told(effect))),
    );
  }

  one(turn, effect, told) {
    const verdict = turn.verdicts.find((other) => other.fired && other.tool === effect.tool);
    const sentence = SENTENCES[isInOutbox(effect) ? "outbox" : effect.state];
    const [tone, name, word] = lookOf(effect);
    return h(
      "article",
      { class: "mg-stack", "data-effect": effect.tool },
      h(
        "div",
        { class: "mg-flow" },
        state(tone, name, word + tookOf(effect), { fill: true }),
        h("b", { class: "tb", dir: "auto" }, verdict ? `“${verdict.quote}”` : effect.tool),
        h("a", { class: "ts ml", href: `${this.links.effects}/${effect.id}` }, "All of it"),
      ),
      trail(turn, effect, { verdict, told, tone }),
      payload(effect),
      effect.error && h("p", { class: "ts" }, effect.error),
      sentence && h("p", { class: "ts t3" }, sentence),
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
        h("b", { class: "tb" }, "Did this happen?"),
        h(
          "span",
          { class: "mg-flow ml" },
          button("check", "It happened", `${path}/resolve`, { happened: true }),
          button("refresh", "It did not: send again", `${path}/resolve`, { happened: false }),
        ),
      );
    return (
      effect.state === "held" && h("div", {}, button("player-play", "Release: do it again", `${path}/release`, {}))
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
  return STATES[effect.state] ?? ["mute", "circle-dotted", format.words(effect.state)];
}

const tookOf = (effect) =>
  effect.finished_at && effect.state === "done" && !isInOutbox(effect)
    ? ` in ${format.duration(format.between(effect.created_at, effect.finished_at))}`
    : "";

/** Says that the agent waited for the effect, and how the wait ended. */
function waited(wait) {
  if (!wait) return null;
  const until = format.seconds(wait.until);
  const [tone, words] = {
    result: ["ok", "The agent waited for this, and the result came."],
    failure: ["bad", "The agent waited for this, and it failed."],
    timeout: ["warn", `The agent waited for this until ${until}, and nothing had come.`],
  }[wait.outcome] ?? [
    "act",
    `The agent waits for this until ${until} at the latest. No new directives are written meanwhile.`,
  ];
  return h("p", { class: "ts", "data-wait": wait.outcome ?? "open" }, state(tone, "clock-pause", words));
}

function trail(turn, effect, { verdict, told, tone }) {
  const at = (iso) => format.duration(format.between(turn.created_at, iso));
  const attempts = format.plural(effect.attempts, "attempt");
  const isDone = effect.state === "done";
  return h("ol", { class: "mg-trail" }, [
    point("Said", turn.replied_at && `${at(turn.replied_at)}, reply of turn ${turn.seq}`, "ok"),
    point("Understood", `${at(effect.created_at)}, ${verdict ? verdict.tool : effect.kind}`, "ok"),
    point(
      isDone && !isInOutbox(effect) ? "Done" : lookOf(effect)[2],
      effect.finished_at ? `${at(effect.finished_at)}, ${attempts}` : isDone && attempts,
      tone,
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
