// The promises of a turn and their outcomes.
import { h, refill, state } from "./dom.js";
import * as format from "./format.js";

const STATES = {
  open: ["act", "circle-dashed", "Open"],
  kept: ["ok", "circle-check", "Kept"],
  broken: ["bad", "circle-x", "Broken"],
  withdrawn: ["mute", "circle-minus", "Withdrawn"],
};
const NOT_SENT = ["warn", "inbox", "Not sent"];
const EVIDENCE = { acknowledged: "acknowledged", delivered: "delivered", person: "a person says so" };

export class Promises {
  constructor(element, { links, showEffects }) {
    this.element = element;
    Object.assign(this, { links, showEffects });
  }

  render(turn) {
    refill(this.element, JSON.stringify([turn.id, turn.promises, turn.reply?.id]), () => this.build(turn));
  }

  build({ promises, reply }) {
    if (!promises.length)
      return h("p", { class: "pg-none" }, reply ? "This reply promises nothing." : "Promises are found in a reply.");
    return h(
      "ul",
      { class: "mg-rows first pg-promises" },
      promises.map((promise) => this.row(promise)),
    );
  }

  row(promise) {
    const [tone, name, word] = promise.evidence === "outbox" ? NOT_SENT : STATES[promise.state];
    const tool = promise.tool
      ? h("a", { href: `${this.links.tools}/${encodeURIComponent(promise.tool)}` }, h("code", {}, promise.tool))
      : state("warn", "hand-grab", "No tool serves it");
    return h(
      "li",
      { "data-promise": promise.state },
      state(tone, name, word),
      h(
        "span",
        { class: "pg-promise" },
        h("span", { dir: "auto" }, `“${promise.quote.trim()}”`),
        h(
          "span",
          { class: "mg-flow ts t3" },
          tool,
          promise.effect &&
            h("button", { type: "button", class: "pg-turn", onclick: this.showEffects }, "What was done"),
          promise.owner === "staff" && state("warn", "hand-grab", "Needs an owner"),
          EVIDENCE[promise.evidence] && h("span", {}, EVIDENCE[promise.evidence]),
          h("span", { title: format.moment(promise.due_at) }, time(promise)),
          promise.reason && h("span", { class: "t2" }, promise.reason),
        ),
      ),
    );
  }
}

function time({ state: standing, created_at: made, due_at: due, closed_at: closed }) {
  if (standing === "open" || !closed) return `due ${format.moment(due)}`;
  if (standing === "kept") return `in ${format.duration(format.between(made, closed))}`;
  return format.moment(closed);
}
