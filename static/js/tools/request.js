// Preview of what a tool would send: an HTTP request, an event or a message to the agent.
import { gettext } from "../i18n.js";
export function requestText({ action, sent }) {
  if (action === "send_urgent_message") return sent.message;
  if (action === "send_event")
    return Object.keys(sent.arguments).length ? `${sent.event}\n\n${json(sent.arguments)}` : sent.event;
  const headers = Object.entries(sent.headers ?? {}).map(([name, value]) => `${name}: ${value}`);
  const body = sent.body === null || sent.body === undefined ? [] : ["", json(sent.body)];
  return [`${sent.method} ${sent.url}`, ...headers, ...body].join("\n");
}

export const TITLES = {
  send_webhook: gettext("Request preview"),
  send_event: gettext("Event preview"),
  send_urgent_message: gettext("Message to the agent"),
};

const json = (value) => JSON.stringify(value, null, 2);
