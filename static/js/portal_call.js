// The portal's call button: loads the widget's call, and leads it to the portal's endpoints.
import { h } from "./dom.js";
import { callStream, openedCall } from "./web_call.js";

const button = document.getElementById("call");
const token = document.querySelector("[name=csrfmiddlewaretoken]").value;
const { calls, script, name } = button.dataset;

async function ask(path, body, { headers = {}, ...options } = {}) {
  const sent = body && { method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(path, { ...sent, ...options, headers: { "Content-Type": "application/json", "X-CSRFToken": token, ...headers } });
  const found = answer.headers.get("Content-Type")?.includes("json") ? await answer.json() : null;
  if (!answer.ok) throw { status: answer.status, code: found?.error.code };
  return found;
}

const door = {
  async start(offer, once) {
    const call = await ask(calls, { offer }, { headers: { "Idempotency-Key": once } });
    this.events = `${calls}/${call.id}/events`;
    return call;
  },
  read: (id) => ask(`${calls}/${id}`),
  report: (id, event) => ask(`${calls}/${id}`, { event }, { keepalive: true }),
  stream(_, options) {
    return callStream(this.events, options);
  },
};

button.addEventListener("click", async () => {
  const into = h("div", { class: "po-call" });
  button.closest(".po-head").after(into);
  button.hidden = true;
  const close = () => (into.remove(), (button.hidden = false), button.focus());
  await openedCall({ script, into, door, name, language: document.documentElement.lang, onClose: close }).catch(close);
});
button.hidden = false;
