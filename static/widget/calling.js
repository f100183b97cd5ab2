// Calls from the widget: the script that makes them is loaded when somebody presses "Call".
import { Refusal } from "./api.js";

export async function openCallWith(api, { base, ...place }) {
  const { openCall } = await import(`${base}/call.js`);
  return openCall({ ...place, door: doorOf(api) });
}

const doorOf = (api) => ({
  start: (offer, once) => withSession(api, () => api.post("calls", { offer }, { once })),
  read: (id) => api.get(`calls/${id}`),
  report: (id, event) => api.post(`calls/${id}`, { event }, { keepalive: true }),
  stream: (conversation, options) => api.stream({ conversation, onOpen() {}, ...options }),
});

/** Renews an expired session once. */
async function withSession(api, request) {
  try {
    return await request();
  } catch (error) {
    if (!(error instanceof Refusal) || error.status !== 401) throw error;
    await api.open();
    return request();
  }
}
