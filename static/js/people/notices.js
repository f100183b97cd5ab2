// Notice settings: notifications in this browser, and a guess of the time zone.
import { gettext } from "../i18n.js";
import { obstacle, renew, turnOn } from "../push.js";

const panel = document.querySelector("[data-push]");
const zone = document.querySelector("[data-guess]");
const here = document.querySelector("[data-push-here]");

function show(sentence, { isOffered = false, isWrong = false } = {}) {
  const state = panel.querySelector("[data-push-state]");
  state.textContent = sentence;
  state.classList.toggle("form-err", isWrong);
  panel.querySelector("[data-push-on]").hidden = !isOffered;
}

async function begin() {
  const reason = obstacle();
  if (reason) return show(reason);
  const browser = await renew(panel.dataset.push, { always: true }).catch(() => null);
  if (!browser) return show(gettext("Notifications are off in this browser."), { isOffered: true });
  if (!here) return location.reload();
  show(gettext("Notifications are on in this browser."));
}

if (panel) {
  panel.querySelector("[data-push-on]").addEventListener("click", async ({ currentTarget: button }) => {
    button.disabled = true;
    try {
      await turnOn(panel.dataset.push);
      location.reload();
    } catch (error) {
      button.disabled = false;
      show(error.message, { isOffered: !obstacle(), isWrong: true });
    }
  });
  begin();
}
if (zone) zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone || zone.value;
