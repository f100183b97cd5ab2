// How far a message came, as its provider reports it.
import { h, icon } from "./dom.js";
import { gettext } from "./i18n.js";

const STATES = {
  accepted: ["act", "clock", gettext("Waits to be sent")],
  sent: ["ok", "check", gettext("Sent")],
  delivered: ["ok", "check", gettext("Delivered")],
  read: ["ok", "check", gettext("Read")],
  failed: ["bad", "alert-triangle", gettext("Not delivered")],
  unknown: ["warn", "help-circle", gettext("Unknown whether it arrived")],
};
const AWAITED = ["act", "clock", gettext("Sent, waiting for delivery")];

/** [tone, icon, words] of a receipt, or of an effect's whose delivery is still to be reported. */
export const receiptLook = (receipt) => (isAwaited(receipt) ? AWAITED : STATES[receipt.state]);

/** The receipt is one of an effect that isn't settled before it comes. */
export const isAwaited = (receipt) => receipt?.state === "sent" && Boolean(receipt.due_at);

/** A receipt with the reason of a failure; empty without one. */
export function receiptMark(receipt) {
  if (!receipt) return "";
  const [tone, sign, words] = receiptLook(receipt);
  return h("span", { class: "mg-st", "data-s": tone, title: receipt.reason }, icon(sign), receipt.reason || words);
}
