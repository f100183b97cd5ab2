// Parses server-sent events from a byte stream, because EventSource cannot send an Authorization header.

/** Reads `body` to its end; calls `onFrame({ event, data, id })` per complete frame and `onBytes` per piece received. */
export async function readFrames(body, { onFrame, onBytes }) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    onBytes();
    const frames = (rest + value).split("\n\n");
    rest = frames.pop();
    for (const text of frames) passOn(text, onFrame);
  }
}

function passOn(text, onFrame) {
  const fields = {};
  for (const line of text.split("\n")) {
    const at = line.indexOf(": ");
    if (at > 0) fields[line.slice(0, at)] = line.slice(at + 2);
  }
  if (fields.event && fields.data) onFrame({ event: fields.event, data: JSON.parse(fields.data), id: fields.id });
}
