// The server's clock, estimated, so that running work is drawn at the right position.
const TOLERATED_MS = 1_500;
let skew = 0;

/** Updates the estimate from a server timestamp created between `sentAt` (milliseconds) and now. */
export function learn(iso, { sentAt }) {
  const made = new Date(iso).getTime();
  const isBetween = made >= sentAt - TOLERATED_MS && made <= Date.now() + TOLERATED_MS;
  skew = isBetween ? 0 : Date.now() - made;
}

export const now = () => Date.now() - skew;
