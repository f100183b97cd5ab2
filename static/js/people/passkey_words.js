// What stands in the way of a passkey, in sentences with the way out.
import { h } from "../dom.js";

const THIS_COMPUTER = /^(127(\.\d+){3}|\[::1\])$/;
const NUMBER = /^(\d+(\.\d+){3}|\[.*\])$/;

// One error for all of these: pages aren't told what is on a device.
const NOT_ALLOWED = {
  making: "No passkey was made: the question was closed or ran out of time, or nothing here can make one.",
  asking: "No passkey came: the question was closed or ran out of time, or there is none for this address here.",
};
const REASONS = {
  AbortError: "No passkey came: the question was closed.",
  InvalidStateError: "This device or key is in your list already. Use another one.",
  ConstraintError: "This key has no PIN and no fingerprint. It can’t open the account alone.",
  NotSupportedError: "This key is of a kind that isn’t known here. Use another one.",
  SecurityError: "The browser allows no passkeys at this address. Open it with https and its name.",
  TooMany: "Too many attempts. Wait a minute.",
  NoAnswer: "The server didn’t answer. Load this page again.",
  TypeError: "The server didn’t answer. Load this page again.",
};

function sameAtLocalhost() {
  const there = new URL(location.href);
  there.hostname = "localhost";
  return there.href;
}

/** What keeps this page from asking for a passkey at all, as nodes; null when nothing does. */
export function obstacle() {
  const { hostname } = location;
  if (THIS_COMPUTER.test(hostname))
    return [
      "Passkeys need an address with a name. ",
      h("a", { href: sameAtLocalhost() }, "Open this page at localhost"),
      ", and sign in there.",
    ];
  if (NUMBER.test(hostname))
    return ["Passkeys need an address with a name, and this one is a number. Open Makegood by its name, with https."];
  if (!isSecureContext)
    return ["Passkeys need https. Open this address with https; if that fails, ask whoever runs the server for it."];
  if (!window.PublicKeyCredential)
    return ["This browser knows no passkeys. Use a newer one, or a code of an app on your phone."];
  return null;
}

/** Why there is no answer to the form with these `data-`, and what to do instead. */
export function reason({ name }, { passkey, instead }) {
  const why = name === "NotAllowedError" ? (NOT_ALLOWED[passkey] ?? NOT_ALLOWED.asking) : REASONS[name];
  return [`${why ?? "The passkey didn’t work. Try again."} ${instead}`];
}
