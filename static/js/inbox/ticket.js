// The replies of a ticket, read again until each e-mail has gone out or failed.
import { Aside } from "./aside.js";

const EVERY_MS = 2_000;

export function followReplies(part) {
  const aside = new Aside([part]);
  const isDue = () => !document.hidden && part.querySelector("[data-pending]");
  setInterval(() => isDue() && aside.refresh(), EVERY_MS);
}
