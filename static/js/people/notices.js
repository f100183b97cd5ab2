// Notice settings: the browser's permission, and a guess of the time zone.
import { gettext } from "../i18n.js";
const allow = document.querySelector("[data-browser-allow]");
const state = document.querySelector("[data-browser-state]");
const zone = document.querySelector("[data-guess]");
const SAYS = {
  granted: gettext("Notifications are allowed in this browser."),
  denied: gettext("This browser blocks notifications. Allow them for this site in the browser’s settings."),
  default: gettext("Allow notifications in each browser you use."),
};

function show() {
  const permission = "Notification" in window ? Notification.permission : "denied";
  state.textContent = SAYS[permission];
  allow.hidden = permission !== "default";
}

if (allow) {
  allow.addEventListener("click", () => Notification.requestPermission().then(show));
  show();
}
if (zone) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || zone.value;
