// The nine steps of AnalyzeConversation for a reply, with their data.
import { h } from "./dom.js";
import { plural } from "./format.js";

/** The data of an analysis step; null if it wasn't reached. */
export const heldIn = (analysis, number) => analysis?.find((step) => step.number === number)?.held ?? null;

export function trace({ analysis }) {
  if (!analysis) return null;
  return h(
    "details",
    { class: "vd-trace" },
    h("summary", { class: "ts t3" }, `How it was read, ${plural(analysis.length, "step")}`),
    h("ol", { class: "mg-steps" }, analysis.map(step)),
  );
}

const step = ({ number, name, group, held }) =>
  h(
    "li",
    { "data-s": "mute" },
    h("span", { class: "dot", "aria-hidden": "true" }, String(number)),
    h(
      "details",
      {},
      h("summary", {}, h("b", { class: "tb" }, name), " ", h("span", { class: "t3 ts" }, gist(number, held) || group)),
      h("pre", { tabindex: "0" }, JSON.stringify(held, null, 2)),
    ),
  );

/** A step's summary. */
function gist(number, held) {
  const read = () =>
    held.asked ? `${plural(held.verdicts?.length ?? 0, "tool")} named by the words` : "no tool of this kind, no call";
  return {
    1: () => {
      const tools = Object.values(held.tools ?? {});
      return `${plural(tools.length, "tool")}, ${tools.filter((tool) => !tool.why_not).length} offered on ${held.evaluated_as}`;
    },
    2: () => `${held.without_history.length} read the answer, ${held.with_history.length} the conversation`,
    3: read,
    4: read,
    5: () => (Object.keys(held.contested).length ? `competing: ${Object.keys(held.contested).join(", ")}` : "none"),
    6: () =>
      Object.entries(held.winners)
        .map(([tag, winner]) => `${tag}: ${winner ?? "undecided"}`)
        .join(", ") || "nothing to decide",
    7: () => held.effects.map(({ tool }) => tool).join(", ") || "nothing to execute",
    8: () => (held.seconds ? `in ${held.seconds} s` : "off"),
    9: () => (held.waiting ? "waiting" : held.tools_called ? "tools called" : "no tools called"),
  }[number]?.();
}
