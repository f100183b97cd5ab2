// The reply's tool calls by step, with their results.
import { cards } from "./blocks.js";
import { h, refill, state } from "./dom.js";
import * as format from "./format.js";
import { fill, gettext } from "./i18n.js";

export class Steps {
  constructor(element, { links }) {
    Object.assign(this, { element, links });
  }

  render(turn) {
    refill(this.element, JSON.stringify([turn.id, turn.steps]), () => this.build(turn));
  }

  build(turn) {
    if (!turn.steps.length)
      return h("p", { class: "pg-none" }, gettext("No tool was called while this reply was written."));
    return h("ol", { class: "pg-pad mg-stack pg-hops" }, turn.steps.map((step) => this.hop(step)));
  }

  hop(step) {
    return h(
      "li",
      { class: "mg-stack" },
      h("div", { class: "mg-flow" }, h("b", { class: "tb" }, fill(gettext("Step %(number)s"), { number: step.number })), step.content && h("span", { class: "ts t2", dir: "auto" }, `“${step.content}”`)),
      step.calls.map((call) => this.call(call)),
    );
  }

  call(call) {
    const [tone, name, word] = lookOf(call);
    return h(
      "article",
      { class: "mg-stack", "data-call": call.tool },
      h(
        "div",
        { class: "mg-flow" },
        state(tone, name, tookOf(call, word), { fill: true }),
        h("code", {}, call.tool),
        call.signal && h("span", { class: "mg-tag" }, call.signal === "end" ? gettext("ends the conversation") : gettext("transfers the call")),
        call.effect && h("a", { class: "ts ml", href: `${this.links.effects}/${call.effect}` }, gettext("View effect")),
      ),
      h("pre", { tabindex: "0", dir: "auto" }, [call.arguments ? JSON.stringify(call.arguments) : call.arguments_text, call.result && `→ ${call.result}`].filter(Boolean).join("\n")),
      cards(call.block ? [call.block] : []),
    );
  }
}

function lookOf(call) {
  if (!call.finished_at) return ["act", "loader-2", gettext("Running")];
  return call.is_error ? ["bad", "alert-triangle", "Error"] : ["ok", "check", gettext("Answered")];
}

const tookOf = (call, word) =>
  call.finished_at && !call.is_error
    ? fill(gettext("Answered in %(time)s"), { time: format.duration(format.between(call.created_at, call.finished_at)) })
    : word;

/** The number of tool calls in a turn's steps. */
export const countCalls = (turn) => turn.steps.reduce((sum, step) => sum + step.calls.length, 0);
