// The conflict dialog: someone else saved the same tool.
import { h } from "../dom.js";
import { fill, gettext } from "../i18n.js";
import { ask } from "./dialog.js";
import { pretty } from "./draft.js";

const CONTEXT = 3;
const SPOKEN = { add: gettext("Added: "), del: gettext("Removed: "), gap: "" };

/** Resolves to "mine", "theirs" or "" if closed. */
export function resolveConflict({ message, theirs, mine }) {
  return ask({
    title: gettext("Someone else saved this tool"),
    isWide: true,
    content: h(
      "div",
      { class: "mg-stack" },
      h("p", { class: "t2" }, message),
      h("p", { class: "ts t3" }, fill(gettext("From the saved version %(version)s to yours:"), { version: theirs.version })),
      h("ul", { class: "mg-diff tl-diff", tabindex: "0" }, difference(pretty(theirs.definition), pretty(mine))),
    ),
    buttons: [
      ["", gettext("Keep editing"), "btn-quiet"],
      ["theirs", fill(gettext("Use version %(version)s"), { version: theirs.version }), "btn-quiet"],
      ["mine", fill(gettext("Save mine over version %(version)s"), { version: theirs.version }), "btn-primary"],
    ],
  });
}

function difference(before, after) {
  const lines = compare(before.split("\n"), after.split("\n"));
  if (lines.every(([kind]) => !kind)) return [h("li", {}, h("span", {}, gettext("No differences.")))];
  return around(lines).map(([kind, line]) =>
    h("li", { class: kind }, h("span", {}, kind && h("span", { class: "visually-hidden" }, SPOKEN[kind]), line)),
  );
}

/** Changed lines with their neighbors; a gap marks omitted lines. */
function around(lines) {
  const near = lines.map((_, at) => lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(([kind]) => kind));
  return lines.flatMap((line, at) => (near[at] ? [line] : near[at - 1] || at === 0 ? [["gap", "…"]] : []));
}

/** [kind, line] by the longest common subsequence: "" stays, "del" goes, "add" comes. */
export function compare(a, b) {
  const length = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      length[i][j] = a[i] === b[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  const lines = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push(["", a[i]]);
      i += 1;
      j += 1;
    } else if (i < a.length && (j === b.length || length[i + 1][j] >= length[i][j + 1])) lines.push(["del", a[i++]]);
    else lines.push(["add", b[j++]]);
  }
  return lines;
}
