// Push messages in this browser: turned on, and renewed when a page of the console opens.
import { fill, gettext } from "./i18n.js";
import * as storage from "./storage.js";

const SCRIPT = "/p/service-worker.js";
const SCOPE = "/p/";
const ADDRESS = "/account/browsers";
// What the server knows this browser by. Kept beyond the session, to name it when its address changes.
const KNOWN = "push-browser";
const RENEWED = "push-renewed";
let renewing = null;

/** Why messages can't come here, in words; empty if they can. */
export function obstacle() {
  const isApple = /iPhone|iPad/.test(navigator.userAgent) || (/Macintosh/.test(navigator.userAgent) && navigator.maxTouchPoints > 1);
  if (!window.isSecureContext) return gettext("Notifications need an https address.");
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window)) {
    return isApple
      ? gettext("On iPhone and iPad, add Makegood to the Home Screen first, and turn notifications on there.")
      : gettext("This browser can’t receive notifications. Use a current Chrome, Edge, Firefox or Safari.");
  }
  return Notification.permission === "denied"
    ? gettext("This browser blocks notifications. Allow them for this site in the browser’s settings, then reload the page.")
    : "";
}

/** Asks for the permission, subscribes, and tells the server. Throws an Error with a sentence. */
export async function turnOn(key) {
  if ((await Notification.requestPermission()) !== "granted") {
    throw new Error(obstacle() || gettext("Notifications weren’t allowed. Turn them on again to be asked once more."));
  }
  const registration = await navigator.serviceWorker.register(SCRIPT, { scope: SCOPE });
  await active(registration);
  // It may be that of whoever used this browser before.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const subscription = await subscribe(registration, key);
  const answer = await tell(subscription).catch(() => null);
  if (answer?.browser) return;
  await subscription.unsubscribe();
  throw new Error(answer?.error || gettext("The server can’t be reached. Check the connection and try again."));
}

/**
 * The server gets this browser's present address, once per tab unless `always`. Returns what it knows the browser by; "" if it
 * was removed or is another person's, which ends the subscription; null if there is none, or no answer.
 */
export async function renew(key, { always = false } = {}) {
  if (obstacle() || Notification.permission !== "granted" || (!always && storage.read("sessionStorage", RENEWED))) return null;
  // Two parts of a page may ask at once.
  renewing ??= renewNow(key).finally(() => (renewing = null));
  return renewing;
}

async function renewNow(key) {
  const registration = await navigator.serviceWorker.getRegistration(SCOPE);
  let subscription = await registration?.pushManager.getSubscription();
  if (!subscription) return null;
  if (!hasKey(subscription, key)) {
    await subscription.unsubscribe();
    subscription = await subscribe(registration, key);
  }
  const answer = await tell(subscription, storage.read("localStorage", KNOWN) || "").catch(() => null);
  if (!answer || answer.error) return null;
  storage.write("sessionStorage", RENEWED, "yes");
  if (!answer.browser) await subscription.unsubscribe();
  return answer.browser;
}

async function subscribe(registration, key) {
  try {
    return await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  } catch (error) {
    const sentence = gettext("The browser’s push service can’t be reached (%(reason)s). Notifications appear only while a page is open.");
    throw new Error(fill(sentence, { reason: error.message }));
  }
}

async function tell(subscription, before) {
  const { endpoint, keys } = subscription.toJSON();
  const response = await fetch(ADDRESS, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-CSRFToken": csrfToken() },
    credentials: "same-origin",
    body: JSON.stringify({ endpoint, ...keys, ...(before === undefined ? {} : { before }) }),
  });
  const answer = await response.json();
  if (answer.browser || !answer.error) storage.write("localStorage", KNOWN, answer.browser || null);
  return answer;
}

const csrfToken = () =>
  document.querySelector("meta[name=csrf-token]")?.content ?? document.querySelector("[name=csrfmiddlewaretoken]").value;

function active(registration) {
  const worker = registration.installing || registration.waiting;
  if (!worker || registration.active) return null;
  return new Promise((resolve) => {
    worker.addEventListener("statechange", () => ["activated", "redundant"].includes(worker.state) && resolve());
  });
}

function hasKey(subscription, key) {
  const bytes = new Uint8Array(subscription.options.applicationServerKey ?? []);
  const text = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return text === key;
}
