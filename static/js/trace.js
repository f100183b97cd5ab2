// The nine steps of AnalyzeConversation for a reply, with their data.
import { h } from "./dom.js";
import { numbered } from "./format.js";
import { fill, gettext, ngettext } from "./i18n.js";

/** The data of an analysis step; null if it wasn't reached. */
export const heldIn = (analysis, number) => analysis?.find((step) => step.number === number)?.held ?? null;

export function trace({ analysis }) {
  if (!analysis) return null;
  return h(
    "details",
    { class: "vd-trace" },
    h("summary", { class: "ts t3" }, numbered(ngettext("How it was read, %(number)s step", "How it was read, %(number)s steps", analysis.length), analysis.length)),
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

const named = (count) => numbered(ngettext("%(number)s tool mentioned", "%(number)s tools mentioned", count), count);

/** A step's summary. */
function gist(number, held) {
  const read = () =>
    held.asked ? named(held.verdicts?.length ?? 0) : gettext("no tool of this kind, no call");
  return {
    1: () => {
      const tools = Object.values(held.tools ?? {});
      const offered = tools.filter((tool) => !tool.why_not).length;
      const all = ngettext(
        "%(number)s tool, %(offered)s offered on %(channel)s",
        gettext("%(number)s tools, %(offered)s offered on %(channel)s"),
        tools.length,
      );
      return fill(all, { number: tools.length, offered, channel: held.evaluated_as });
    },
    2: () => fill(gettext("%(alone)s read the reply, %(whole)s the conversation"), { alone: held.without_history.length, whole: held.with_history.length }),
    3: read,
    4: read,
    5: () => (Object.keys(held.contested).length ? fill(gettext("competing: %(tags)s"), { tags: Object.keys(held.contested).join(", ") }) : gettext("none")),
    6: () =>
      Object.entries(held.winners)
        .map(([tag, winner]) => `${tag}: ${winner ?? gettext("undecided")}`)
        .join(", ") || gettext("nothing to decide"),
    7: () => held.effects.map(({ tool }) => tool).join(", ") || gettext("nothing to execute"),
    8: () => (held.seconds ? fill(gettext("in %(seconds)s s"), { seconds: held.seconds }) : gettext("off")),
    9: () => (held.waiting ? gettext("waiting") : held.tools_called ? gettext("tools called") : gettext("no tools called")),
  }[number]?.();
}
