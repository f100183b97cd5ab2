// Saving a reply as a regression case: text, context, and the expected outcome per tool.
import { h, icon } from "./dom.js";
import { gettext } from "./i18n.js";
import { NOT_READ, ruleOf } from "./turn.js";

const LONGEST_NAME = 100;

/** Expected outcome per mentioned tool: "fired", or the rule that blocked it. `corrections` take precedence. */
export function expectedOf(verdicts, corrections = new Map()) {
  const read = verdicts.filter((verdict) => verdict.fired || (verdict.rule && !NOT_READ.has(ruleOf(verdict))));
  const outcomes = new Map(read.map((verdict) => [verdict.tool, verdict.fired ? "fired" : verdict.rule]));
  for (const [tool, outcome] of corrections) if (outcome) outcomes.set(tool, outcome);
  return Object.fromEntries(outcomes);
}

/** A button that saves the case from `content()` and reports through `toast`. */
export function keepButton({ api, toast, content, label = gettext("Keep as a test case") }) {
  const keep = async (event) => {
    const button = event.currentTarget;
    button.disabled = true;
    try {
      const { answer, ...rest } = content();
      const name = answer.length > LONGEST_NAME ? `${answer.slice(0, LONGEST_NAME - 1)}…` : answer;
      await api.post("/evaluation-cases", { name, answer, ...rest });
      button.replaceChildren(icon("check"), gettext("Kept"));
      toast(gettext("Kept. Each run of the regression cases now includes it."));
    } catch (error) {
      button.disabled = false;
      toast.error(error.message);
    }
  };
  return h(
    "button",
    { type: "button", class: "btn btn-quiet btn-sm", "data-keep": true, onclick: keep },
    icon("bookmark-plus"),
    label,
  );
}
