// A promise's state for display: tone, icon, words, and who has it.
import { fill, gettext, pgettext } from "./i18n.js";
const STATES = {
  open: ["act", "circle-dashed", gettext("Open")],
  kept: ["ok", "circle-check", pgettext("promise", "Kept")],
  broken: ["bad", "circle-x", gettext("Broken")],
  withdrawn: ["mute", "circle-minus", gettext("Withdrawn")],
};
const NOT_SENT = ["warn", "inbox", gettext("Not sent")];
const AWAITED = ["act", "clock", gettext("Sent, waiting for delivery")];
const UNKNOWN = ["warn", "help-circle", gettext("Unknown")];

/** [tone, icon, word] */
export function promiseState(promise, turn) {
  if (promise.evidence === "outbox") return NOT_SENT;
  if (promise.evidence === "sent" && promise.state === "open") return AWAITED;
  const effect = promise.state === "open" && turn.effects.find(({ id }) => id === promise.effect);
  if (effect && effect.state === "unknown") return UNKNOWN;
  if (needsPerson(promise)) return ["warn", "hand-grab", gettext("Open")];
  return STATES[promise.state] ?? ["mute", "circle-dotted", promise.state];
}

/** Only a person can keep it. */
export const needsPerson = ({ state, owner }) => state === "open" && owner === "staff";

/** Who has a promise that only a person can keep; null for others, and for a message that waits for a service. */
export function holder(promise) {
  if (!needsPerson(promise)) return null;
  if (promise.taker) return fill(gettext("Assigned to %(taker)s"), { taker: promise.taker });
  return promise.evidence === "outbox" ? null : gettext("Unassigned");
}
