// A call from one of our own pages, with the widget's script of calls.

/** Shows a call and starts it, as `openCall` of the widget does. `script` is the address of that script. */
export async function openedCall({ script, ...call }) {
  const { openCall } = await import(new URL(script, location.href).href);
  return openCall(call);
}

/** Follows a conversation's events until `signal` ends it. The browser connects again by itself. */
export function callStream(address, { signal, onFrame }) {
  return new Promise((resolve) => {
    const stream = new EventSource(address);
    for (const event of ["message", "reset", "over"])
      stream.addEventListener(event, ({ data, lastEventId }) => onFrame({ event, data: JSON.parse(data), id: lastEventId }));
    const end = () => (stream.close(), resolve());
    stream.addEventListener("error", () => stream.readyState === EventSource.CLOSED && end());
    signal.addEventListener("abort", end);
  });
}
