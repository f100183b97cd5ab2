// Messages about passkey errors and unsupported browsers.
import { h } from "../dom.js";
import { gettext } from "../i18n.js";

const THIS_COMPUTER = /^(127(\.\d+){3}|\[::1\])$/;
const NUMBER = /^(\d+(\.\d+){3}|\[.*\])$/;

// The browser reports one error for all of these, to hide what is on the device.
const NOT_ALLOWED = {
  making: gettext("No passkey was created. The prompt was closed or timed out, or this device doesn’t support passkeys."),
  asking: gettext("No passkey was used. The prompt was closed or timed out, or this device has none for this site."),
};
const REASONS = {
  AbortError: gettext("No passkey was used. The prompt was closed."),
  InvalidStateError: gettext("You’ve already added this device or key. Use another one."),
  ConstraintError: gettext("This key has no PIN or fingerprint, so it can’t replace your password."),
  NotSupportedError: gettext("This key isn’t supported. Use another one."),
  SecurityError: gettext("Passkeys need https and a host name. Open Makegood at its https address."),
  TooMany: gettext("Too many attempts. Wait a minute."),
  NoAnswer: gettext("No response from the server. Reload the page."),
  TypeError: gettext("No response from the server. Reload the page."),
};

function sameAtLocalhost() {
  const there = new URL(location.href);
  there.hostname = "localhost";
  return there.href;
}

/** Why this page can't use passkeys at all, as nodes; null if it can. */
export function obstacle() {
  const { hostname } = location;
  if (THIS_COMPUTER.test(hostname))
    return [
      gettext("Passkeys need a host name, not an IP address."),
      " ",
      h("a", { href: sameAtLocalhost() }, gettext("Sign in on localhost")),
    ];
  if (NUMBER.test(hostname))
    return [gettext("Passkeys need a host name, not an IP address. Open Makegood at its https address.")];
  if (!isSecureContext)
    return [gettext("Passkeys need https. Open this page with https, or ask the server administrator to set it up.")];
  if (!window.PublicKeyCredential)
    return [gettext("This browser doesn’t support passkeys. Use another browser, or an authenticator app.")];
  return null;
}

/** The message for an error, with the form's `data-instead`. */
export function reason({ name }, { passkey, instead }) {
  const why = name === "NotAllowedError" ? (NOT_ALLOWED[passkey] ?? NOT_ALLOWED.asking) : REASONS[name];
  return [`${why ?? gettext("That didn’t work. Try again.")} ${instead}`];
}
