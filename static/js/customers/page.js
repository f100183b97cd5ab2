// People: moving through a list of rows, the search, and the way back.
import { gettext } from "../i18n.js";
import { offerKeys } from "../keys.js";
import { bindDialogs } from "../people/dialogs.js";

bindDialogs();

const rows = () => [...document.querySelectorAll("[data-row]")];
const search = document.getElementById("q");
const back = document.querySelector("[data-back]");

function step(by) {
  const all = rows();
  const at = all.indexOf(document.activeElement);
  all[Math.max(0, Math.min(all.length - 1, at < 0 ? 0 : at + by))]?.focus();
}

const keys = [];
if (rows().length) keys.push(["J K", gettext("Move through the list"), { j: () => step(1), k: () => step(-1) }], ["↵", gettext("Open selected")]);
if (search) keys.push(["/", gettext("Search"), { "/": () => search.focus() }]);
if (back) keys.push([gettext("Esc"), gettext("Go back"), { escape: () => back.click() }]);
offerKeys(...keys);
