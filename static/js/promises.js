// The promises of a turn and their outcomes.
import { h, refill, state } from "./dom.js";
import * as format from "./format.js";
import { fill, gettext } from "./i18n.js";
import { numbersOf, placeReply } from "./marks.js";
import { holder, promiseState } from "./promise_state.js";
import { reading } from "./turn.js";

const EVIDENCE = { acknowledged: gettext("acknowledged"), delivered: gettext("delivered"), person: gettext("confirmed by a person") };

export class Promises {
  constructor(element, { links, showEffects }) {
    this.element = element;
    Object.assign(this, { links, showEffects });
  }

  render(turn) {
    refill(this.element, JSON.stringify([turn.id, turn.promises, turn.effects, turn.reply?.id]), () => this.build(turn));
  }

  build(turn) {
    const { promises, reply } = turn;
    if (!promises.length)
      return h("p", { class: "pg-none" }, reply ? gettext("No promises in this reply.") : gettext("Promises appear once the agent replies."));
    const numbers = numbersOf(placeReply(turn, reading));
    return h(
      "ul",
      { class: "mg-rows first pg-promises" },
      promises.map((promise) => this.row(promise, { turn, number: numbers.get(promise) })),
    );
  }

  row(promise, { turn, number }) {
    const held = holder(promise);
    const tool = promise.tool
      ? h("a", { href: `${this.links.tools}/${encodeURIComponent(promise.tool)}` }, h("code", {}, promise.tool))
      : h("span", {}, gettext("No tool for this"));
    return h(
      "li",
      { "data-promise": promise.state, "data-w": number },
      state(...promiseState(promise, turn)),
      h(
        "span",
        { class: "pg-promise" },
        h("span", { dir: "auto" }, `“${promise.quote.trim()}”`),
        h(
          "span",
          { class: "mg-flow ts t3" },
          tool,
          promise.effect &&
            h("button", { type: "button", class: "pg-turn", onclick: this.showEffects }, gettext("What was done")),
          held && owned(promise, held, this.links),
          EVIDENCE[promise.evidence] && h("span", {}, EVIDENCE[promise.evidence]),
          h("span", { title: fill(gettext("Due %(time)s"), { time: format.moment(promise.due_at) }) }, time(promise)),
          promise.reason && h("span", { class: "t2" }, promise.reason),
        ),
      ),
      h("span", { class: "mg-n ml" }, number ? String(number) : ""),
    );
  }
}

/** Who has the promise, linked to its todo. */
function owned(promise, held, links) {
  const words = state("warn", "hand-grab", held);
  return promise.todo ? h("a", { href: `${links.todos}/${promise.todo}` }, words) : words;
}

function time({ state: standing, created_at: made, due_at: due, closed_at: closed }) {
  if (standing === "open" || !closed) return fill(gettext("due %(time)s"), { time: format.ago(due) });
  if (standing === "kept") return fill(gettext("in %(time)s"), { time: format.duration(format.between(made, closed)) });
  return format.ago(closed);
}
