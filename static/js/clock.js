// The server's time as far as the page can tell, so that what still runs grows at the right place.
const TOLERATED_MS = 1_500;
let skew = 0;

/** Learns from something that the server made after `sentAt`, in milliseconds, and before now. */
export function learn(iso, { sentAt }) {
  const made = new Date(iso).getTime();
  const isBetween = made >= sentAt - TOLERATED_MS && made <= Date.now() + TOLERATED_MS;
  skew = isBetween ? 0 : Date.now() - made;
}

export const now = () => Date.now() - skew;
