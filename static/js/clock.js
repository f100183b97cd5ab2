// The server's time as far as the page can tell, so that what still runs grows at the right place.
const TOLERATED_MS = 1_500;
let skew = 0;

/** Learns from something that the server made a moment ago. */
export function learn(iso) {
  const apart = Date.now() - new Date(iso);
  skew = Math.abs(apart) > TOLERATED_MS ? apart : 0;
}

export const now = () => Date.now() - skew;
