// The inbox: the list, the opened conversation, and the keys for both.
import { Api } from "../api.js";
import { gettext } from "../i18n.js";
import { offerKeys } from "../keys.js";
import { toaster } from "../toast.js";
import { searchFurther } from "./further.js";
import { Hints } from "./hints.js";
import { List } from "./list.js";
import { Menus } from "./menus.js";
import { Pane } from "./pane.js";
import { followReplies } from "./ticket.js";

const main = document.getElementById("main");
const { api: base, project, me, conversation } = main.dataset;
const api = new Api({ base, project, csrf: document.querySelector("meta[name=csrf-token]").content });
const toast = toaster(document.getElementById("toasts"));
const list = new List({ part: document.getElementById("list"), bulk: document.getElementById("bulk") });
const lost = document.getElementById("list-lost");

offerKeys(
  ["J K", gettext("Next, previous in the list"), { j: () => list.step(1), k: () => list.step(-1) }],
  ["↵", list.bulk ? gettext("Open, or send the reply") : gettext("Open")],
  ["/", gettext("Search"), { "/": () => document.getElementById("q").select() }],
  ["esc", gettext("Leave the field, clear the selection, or close the conversation"), { escape: back }],
);
// Esc leads to the list with the conversation that was left as the fragment: the keys continue at its row.
if (!conversation) list.focus(location.hash.slice(1));
let pane = null;
if (conversation) {
  pane = new Pane({ main, api, onNews: () => list.refreshSoon() });
  list.onOpenedChanged = () => pane.refreshSoon();
}
list.hints = new Hints({
  url: api.streamUrl("/inbox/events"),
  onChanged: () => list.refreshSoon(),
  onTyping: (hint) => pane?.typing.heard(hint),
});
list.onLost = () => (pane ? pane.session.connection(false) : (lost.hidden = false));
// Streams begin anew: a network can cut them without a word.
list.onBack = () => {
  if (lost) lost.hidden = true;
  list.hints.open();
  pane?.session.stream?.renew();
};
if (list.bulk) {
  const menus = new Menus({ api, list, me, toast, isOpen: Boolean(conversation) });
  offerKeys(
    ["X", gettext("Select"), { x: () => list.pickFocused() }],
    ["I", gettext("Assign to me"), { i: () => menus.assignToMe() }],
    ["L", gettext("Tags"), { l: () => menus.open("tag") }],
    ["Z", gettext("Snooze"), { z: () => menus.open("snooze") }],
    ["E", gettext("Close"), { e: () => menus.close() }],
  );
}
const replies = document.getElementById("ticket-replies");
if (replies) followReplies(replies);
searchFurther(document.getElementById("none"));

function back() {
  if (list.picked.size) return list.clear();
  if (!conversation) return;
  location.assign(`${document.querySelector(".ib-ch a.mg-phone").href}#${conversation}`);
}
