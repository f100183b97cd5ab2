// The inbox: the list, the opened conversation, and the keys for both.
import { Api } from "../api.js";
import { offerKeys } from "../keys.js";
import { toaster } from "../toast.js";
import { searchFurther } from "./further.js";
import { List } from "./list.js";
import { Menus } from "./menus.js";
import { Pane } from "./pane.js";

const main = document.getElementById("main");
const { api: base, project, me, conversation } = main.dataset;
const api = new Api({ base, project, csrf: document.querySelector("meta[name=csrf-token]").content });
const toast = toaster(document.getElementById("toasts"));
const list = new List({ part: document.getElementById("list"), bulk: document.getElementById("bulk") });

offerKeys(
  ["J K", "Next, previous in the list", { j: () => list.step(1), k: () => list.step(-1) }],
  ["↵", "Open, or send the answer"],
  ["/", "Search", { "/": () => document.getElementById("q").select() }],
  ["esc", "Leave the field; end the selection; close the conversation", { escape: back }],
);
if (conversation) {
  const pane = new Pane({ main, api, onNews: () => list.refreshSoon() });
  list.onOpenedChanged = () => pane.refreshSoon();
}
if (list.bulk) {
  const menus = new Menus({ api, list, me, toast, isOpen: Boolean(conversation) });
  offerKeys(
    ["X", "Select", { x: () => list.pickFocused() }],
    ["I", "Assign to me", { i: () => menus.assignToMe() }],
    ["L", "Tags", { l: () => menus.open("tag") }],
    ["Z", "Snooze", { z: () => menus.open("snooze") }],
    ["E", "Close", { e: () => menus.close() }],
  );
}
searchFurther(document.getElementById("none"));

function back() {
  if (list.picked.size) list.clear();
  else if (conversation) location.assign(document.querySelector(".ib-ch a.mg-phone").href);
}
