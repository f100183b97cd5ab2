// The model calls of a turn, with their prompts.
import { h, refill } from "./dom.js";
import * as format from "./format.js";
import { fill, gettext, ngettext } from "./i18n.js";
import { Prompt } from "./prompt.js";

const NAMES = { reply: gettext("Reply"), observer: gettext("Observer"), thoughts: gettext("Thoughts"), detect: gettext("Detection") };
const WITHDRAWN = new Set(["cancelled", "superseded"]);
const HEADS = [gettext("Model"), gettext("In"), gettext("Cached"), gettext("Out"), gettext("First token"), gettext("Total"), gettext("Cost")];

export class Calls {
  constructor(element, { api, toast }) {
    this.table = h("div", { class: "table-responsive", tabindex: "0", role: "region", "aria-label": gettext("Model calls") });
    this.drawer = h("div", {});
    this.prompt = new Prompt({ element: this.drawer, api, toast });
    element.append(this.table, this.drawer);
  }

  render(turn) {
    turn = {
      ...turn,
      model_calls: [...turn.model_calls].sort((a, b) => new Date(a.started_at) - new Date(b.started_at)),
    };
    if (this.prompt.turnId !== turn.id) this.prompt.close();
    refill(this.table, JSON.stringify([turn.id, turn.model_calls, turn.status, this.prompt.callId]), () =>
      this.build(turn),
    );
  }

  build(turn) {
    if (!turn.model_calls.length) return h("p", { class: "pg-none" }, gettext("Model calls appear here once they end."));
    const heads = HEADS.map((name, index) => h("th", { scope: "col", class: index ? "text-end" : null }, name));
    const names = nameCalls(turn.model_calls);
    const head = h(
      "tr",
      {},
      h("th", { scope: "col" }, gettext("Call")),
      heads,
      h("th", { scope: "col" }, h("span", { class: "visually-hidden" }, gettext("Prompt"))),
    );
    return h(
      "table",
      { class: "table pg-calls" },
      h("thead", {}, head),
      h(
        "tbody",
        { class: "tn" },
        turn.model_calls.map((call, index) => this.row(turn, call, names[index])),
      ),
    );
  }

  row(turn, call, name) {
    const number = (value, attributes = {}) => h("td", { class: "text-end", ...attributes }, value);
    const isOpen = this.prompt.callId === call.id;
    return h(
      "tr",
      { class: call.error ? "t3" : null },
      h(
        "td",
        { class: "tb" },
        call.error ? h("s", {}, name) : name,
        call.error &&
          h(
            "span",
            { class: WITHDRAWN.has(call.error) ? "pg-call-note" : "pg-call-note bad" },
            format.words(call.error).toLowerCase(),
          ),
        call.attempts > 1 && h("span", { class: "pg-call-note" }, format.numbered(ngettext("%(number)s attempt", "%(number)s attempts", call.attempts), call.attempts)),
      ),
      h("td", { class: "t2" }, call.model),
      number(format.count(call.input_tokens)),
      number(format.count(call.cached_tokens), { class: "text-end t3" }),
      number(format.count(call.output_tokens)),
      number(call.first_token_ms === null ? "" : format.length(call.first_token_ms)),
      number(format.length(call.total_ms)),
      number(call.cost === null ? "–" : format.money(call.cost), {
        title: call.cost === null ? gettext("No price is set for this model") : null,
      }),
      number(
        h(
          "button",
          {
            type: "button",
            class: "pg-turn",
            "aria-expanded": String(isOpen),
            "aria-label": fill(gettext("Prompt: %(name)s"), { name }),
            onclick: () => this.toggle(turn, call, name),
          },
          isOpen ? gettext("Close") : gettext("Prompt"),
        ),
      ),
    );
  }

  async toggle(turn, call, name) {
    if (this.prompt.callId === call.id) this.prompt.close();
    else await this.prompt.open({ turnId: turn.id, call, name, onChange: () => this.refresh(turn, call) });
    this.refresh(turn, call);
  }

  /** Redraws the table and keeps the focus. */
  refresh(turn, call) {
    const hadFocus = this.table.contains(document.activeElement);
    this.render(turn);
    if (hadFocus) this.table.querySelectorAll("tbody button")[turn.model_calls.indexOf(call)]?.focus();
  }
}

/** Names calls: "Detection 1", "Detection 2" if a skill was called more than once. */
function nameCalls(calls) {
  const totals = Map.groupBy ? Map.groupBy(calls, (call) => call.skill) : new Map();
  const seen = new Map();
  return calls.map(({ skill }) => {
    const nth = (seen.get(skill) ?? 0) + 1;
    seen.set(skill, nth);
    const name = NAMES[skill] ?? format.words(skill);
    return (totals.get(skill)?.length ?? 1) > 1 ? `${name} ${nth}` : name;
  });
}
